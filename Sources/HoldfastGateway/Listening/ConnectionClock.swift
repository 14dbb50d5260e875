internal import NIOCore

/// When a client has had its time. A pure machine, which the one timer of a connection asks: nothing is timed for each
/// request.
struct ConnectionClock {
    enum Verdict: Equatable {
        case goOn
        /// The client has had its time: for what.
        case close(ListenerFault)
        /// Time to look after requests that do not end, and at what the client's kernel has taken.
        case sweep
    }

    var limits: ListenerLimits
    private let openedAt: NIODeadline
    private var hasSpoken = false
    /// Since when it has had to show credentials; nil while it has shown them, or needs none.
    private var strangerSince: NIODeadline?
    private var heardAt: NIODeadline
    private var sweptAt: NIODeadline
    /// How many writes the kernel has not taken.
    private var writes = 0
    /// Since when the kernel has taken nothing of them.
    private var blockedSince: NIODeadline
    /// Since when nothing has gone out of what waits for the client's flow-control windows; nil while nothing waits.
    private var heldSince: NIODeadline?
    /// How much of such had gone out by then.
    private var heldSent = 0
    /// What the client's kernel had taken at the last sweep; nil where that was everything.
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

    /// So many bytes wait for the client's flow-control windows.
    ///
    /// - Parameter sent: bytes that waited for them and have gone out, since the connection's beginning.
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

    /// When to ask again.
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
