/// How far the work on a route has come to its end: what is in flight gets its answers within a limit, and the rest stays in
/// the journal as it is. Interrupted work is not failed work.
///
/// A pure machine.
struct Ending: Sendable {
    /// How long the journal has to write when a shutdown has reached its limit.
    static let graceAfterLimit = Duration.seconds(1)

    /// When what is in flight is given up; nil while the work goes on.
    private(set) var deadline: Duration?
    /// The fate of the lanes, where this route's Consumer ends and not the engine.
    private(set) var retirement: Retirement?
    /// Why the work ends, when what is in flight has its answers.
    private(set) var failing: JournalError?
    /// The work is over.
    private(set) var end: Consumer.End?
    /// Send marks have been set back.
    var marksAreLowered = false

    /// Whether nothing new is handed out any more.
    var hasBegun: Bool { deadline != nil }
    var isOver: Bool { end != nil }

    /// - Returns: whether it begins now.
    mutating func begin(limit: Duration, now: Duration) -> Bool {
        if retirement != nil {
            // Now it is the engine that ends, which waits for nothing beyond its own limit.
            retirement = nil
            deadline = now + limit
        }
        guard deadline == nil else { return false }
        deadline = now + limit
        return true
    }

    /// The lanes are another's from then on.
    mutating func retire(_ retirement: Retirement) { self.retirement = retirement }

    /// The journal can't be read further, but written.
    ///
    /// - Returns: false when the work ends already for such a reason.
    mutating func fail(_ error: JournalError) -> Bool {
        guard end == nil, failing == nil else { return false }
        failing = error
        return true
    }

    /// Nothing can be written any more.
    mutating func lost(_ error: JournalError) { end = .failed(error) }

    /// All is done that can be.
    mutating func complete() { end = failing.map { .failed($0) } ?? .shutDown }

    /// Whether the limit has come.
    func isDue(_ now: Duration) -> Bool { deadline.map { now >= $0 } ?? false }

    /// Whether the time has come that the journal is given beyond the limit.
    func isOverdue(_ now: Duration) -> Bool { deadline.map { now >= $0 + Self.graceAfterLimit } ?? false }

    func nextLook(_ now: Duration) -> Duration? {
        guard let deadline, now < deadline + Self.graceAfterLimit else { return nil }
        return deadline <= now ? deadline + Self.graceAfterLimit : deadline
    }
}

/// The fate of the lanes of a Consumer that ends before its engine.
enum Retirement: Sendable {
    /// Another one goes on with them.
    case replaced
    /// They wait for another time, as at the engine's end.
    case removed
}
