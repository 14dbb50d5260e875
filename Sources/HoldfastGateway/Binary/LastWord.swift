internal import NIOCore

/// Decides how long a connection of the binary protocol stays open behind our last answer, an error or nothing, while
/// the client's further bytes are thrown away.
///
/// A reset fails the client's next write, where silence would let it lose more and more; but a reset that overtakes the
/// answer destroys it. So the client's kernel has to acknowledge the answer first, and the client gets a moment to read
/// it.
///
/// A pure machine.
struct LastWord {
    enum Verdict: Equatable {
        /// Wait until then, unless an event comes first.
        case wait(until: NIODeadline)
        /// The client has had its time to close.
        case close
    }

    /// The time for which a client that has the answer may go on writing. With the interval between two looks it stays
    /// within a quarter of a second.
    static let grace = TimeAmount.milliseconds(200)
    /// The first and the longest interval between two looks at the send queue, which has no event.
    private static let leastLook = TimeAmount.milliseconds(1)
    private static let greatestLook = TimeAmount.milliseconds(40)

    private var deadline: NIODeadline
    private var pause = Self.leastLook
    /// Whether our kernel has the answer, and our close behind it.
    private var isSent = false
    private var acknowledgedAt: NIODeadline?

    /// - Parameter limit: the time a client has to close its side.
    init(at now: NIODeadline, limit: TimeAmount) { deadline = now + limit }

    /// Shortens the client's time to `limit` from now.
    mutating func hasten(at now: NIODeadline, limit: TimeAmount) { deadline = min(deadline, now + limit) }

    /// Notes that our kernel has everything.
    mutating func sent() { isSent = true }

    /// Whether the client kernel's acknowledgement matters now.
    var isAwaitingAcknowledgement: Bool { isSent && acknowledgedAt == nil }

    /// - Parameter isAcknowledged: whether the client's kernel has everything; only used while that is awaited.
    mutating func look(isAcknowledged: Bool, at now: NIODeadline) -> Verdict {
        guard now < deadline else { return .close }
        guard isAwaitingAcknowledgement else { return .wait(until: deadline) }
        guard !isAcknowledged else {
            acknowledgedAt = now
            return .wait(until: deadline)
        }
        defer { pause = min(pause * 2, Self.greatestLook) }
        return .wait(until: min(now + pause, deadline))
    }

    /// Judges a write of the client.
    ///
    /// - Returns: whether the client has the answer and goes on all the same, so that the connection has to be reset.
    func isIgnored(at now: NIODeadline) -> Bool {
        guard let acknowledgedAt else { return false }
        return now >= acknowledgedAt + Self.grace
    }
}
