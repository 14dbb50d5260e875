internal import NIOCore

/// Enforces a client's timeouts. A pure machine, which the one timer of a connection asks: no request has a timer of
/// its own.
struct ConnectionClock {
    enum Verdict: Equatable {
        case goOn
        /// A timeout has passed: which one.
        case close(ListenerFault)
        /// Time to look for unfinished requests, and at the client kernel's progress.
        case sweep
    }

    var limits: ListenerLimits
    private let openedAt: NIODeadline
    private var hasSpoken = false
    /// The time from which credentials are due; nil once they were shown, or where none are needed.
    private var strangerSince: NIODeadline?
    private var heardAt: NIODeadline
    private var sweptAt: NIODeadline
    /// The number of writes that the kernel has not taken.
    private var writes = 0
    /// The time since which the kernel has taken nothing of them.
    private var blockedSince: NIODeadline
    /// The time since which flow control has let nothing through; nil while nothing is held back.
    private var heldSince: NIODeadline?
    /// The held-back bytes that had gone out by then.
    private var heldSent = 0
    /// The bytes that the client's kernel had taken at the last sweep; nil for all.
    private var taken: UInt64?
    /// Whether it has taken nothing since, and has not taken everything.
    private var isStuck = false

    /// The timer does not come more often, however small a limit is.
    private static let leastPause = TimeAmount.milliseconds(10)

    init(_ limits: ListenerLimits, isStranger: Bool = false, now: NIODeadline) {
        self.limits = limits
        strangerSince = isStranger ? now : nil
        openedAt = now
        heardAt = now
        sweptAt = now
        blockedSince = now
    }

    /// The client speaks the protocol.
    mutating func spoke() { hasSpoken = true }

    /// Whether the client has credentials to show yet.
    var isStranger: Bool { strangerSince != nil }

    /// The client has shown credentials that are good, or needs none any more.
    mutating func proved() { strangerSince = nil }

    /// The client has to show credentials from now on, or has to show others.
    mutating func doubted(at now: NIODeadline) { strangerSince = strangerSince ?? now }

    mutating func heard(at now: NIODeadline) { heardAt = now }

    mutating func wrote(at now: NIODeadline) {
        if writes == 0 { blockedSince = now }
        writes += 1
    }

    mutating func written(at now: NIODeadline) {
        writes -= 1
        blockedSince = now
    }

    /// Whether something waits for the client's flow-control windows.
    var isHolding: Bool { heldSince != nil }

    /// Notes the bytes that flow control holds back.
    ///
    /// - Parameter sent: bytes that were held back and have gone out, since the connection's beginning.
    mutating func held(_ byteCount: Int, sent: Int, at now: NIODeadline) {
        if byteCount == 0 {
            heldSince = nil
        } else if heldSince == nil || sent != heldSent {
            heldSince = now
        }
        heldSent = sent
    }

    /// - Parameter taken: how much the client's kernel has taken since the connection's beginning; nil for everything.
    mutating func swept(at now: NIODeadline, taken: UInt64?) {
        sweptAt = now
        isStuck = taken != nil && taken == self.taken
        self.taken = taken
    }

    /// - Parameter isOwed: whether the client waits for something.
    func verdict(at now: NIODeadline, isOwed: Bool) -> Verdict {
        if !hasSpoken, now >= openedAt + TimeAmount(limits.handshake) { return .close(.handshake) }
        if let strangerSince, now >= strangerSince + TimeAmount(limits.firstRequest) { return .close(.unproven) }
        if writes > 0, now >= blockedSince + TimeAmount(limits.write) { return .close(.write) }
        if isStuck { return .close(.write) }
        if let heldSince, now >= heldSince + TimeAmount(limits.write) { return .close(.write) }
        if !isOwed, hasSpoken, now >= heardAt + TimeAmount(limits.idle) { return .close(.idle) }
        return now >= sweptAt + TimeAmount(limits.write) ? .sweep : .goOn
    }

    /// The time of the next look.
    func next(after now: NIODeadline) -> NIODeadline {
        var next = min(sweptAt + TimeAmount(limits.write), heardAt + TimeAmount(limits.idle))
        if !hasSpoken { next = min(next, openedAt + TimeAmount(limits.handshake)) }
        if let strangerSince { next = min(next, strangerSince + TimeAmount(limits.firstRequest)) }
        if writes > 0 { next = min(next, blockedSince + TimeAmount(limits.write)) }
        if let heldSince { next = min(next, heldSince + TimeAmount(limits.write)) }
        if isStuck { next = now }
        return max(next, now + Self.leastPause)
    }
}
