internal import NIOCore

/// For how long a connection of the binary protocol stays open behind the last that we say, an error or nothing, while what
/// the client still writes is thrown away.
///
/// A reset fails the client's next write, where silence would let it lose more and more; but a reset that overtakes the word
/// destroys it. So the client's kernel has to acknowledge the word first, and the client gets a moment to read it.
///
/// A pure machine.
struct LastWord {
    enum Verdict: Equatable {
        /// Nothing to do before then, unless something is heard.
        case wait(until: NIODeadline)
        /// The client has had its time to close.
        case close
    }

    /// For how long a client may go on writing that has the word. With the pause between two looks it stays within a
    /// quarter of a second.
    static let grace = TimeAmount.milliseconds(200)
    /// How often the send queue is looked at, at first and at most; it has no event.
    private static let leastLook = TimeAmount.milliseconds(1)
    private static let greatestLook = TimeAmount.milliseconds(40)

    private var deadline: NIODeadline
    private var pause = Self.leastLook
    /// Whether our kernel has the word, and the end of our side behind it.
    private var isSent = false
    private var acknowledgedAt: NIODeadline?

    /// - Parameter limit: how long the client may take to close its side.
    init(at now: NIODeadline, limit: TimeAmount) { deadline = now + limit }

    /// The client may take so long from now, and no longer than it could before.
    mutating func hasten(at now: NIODeadline, limit: TimeAmount) { deadline = min(deadline, now + limit) }

    /// Our kernel has everything.
    mutating func sent() { isSent = true }

    /// Whether it is of use to know if the client's kernel has everything.
    var isAwaitingAcknowledgement: Bool { isSent && acknowledgedAt == nil }

    /// - Parameter isAcknowledged: whether the client's kernel has everything; only asked for while that is awaited.
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

    /// The client has written something.
    ///
    /// - Returns: whether it has the word and goes on all the same, so that the connection is to be reset.
    func isIgnored(at now: NIODeadline) -> Bool {
        guard let acknowledgedAt else { return false }
        return now >= acknowledgedAt + Self.grace
    }
}
