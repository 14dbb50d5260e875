/// Knows whether a route's push service can be reached and answers.
///
/// A connection alone is no proof: a service that takes connections and answers nothing is away until it answers. Where only
/// errors are answered, or nothing waits, a connection has to do.
///
/// A pure machine.
struct ServiceReach: Sendable {
    /// Why the service counts as away.
    struct Away: Hashable, Sendable {
        let since: WallTime
        /// The last failure.
        var error: ConnectError
        /// Connections that failed, or ended without an answer.
        var failures: Int
    }

    private(set) var away: Away?
    private var isConnected = false
    private var hasSent = false
    private var hasAnswered = false
    /// Since when each connection has something that nothing on the route has answered since.
    private var unanswered: [Int: WallTime] = [:]
    /// Whether a silent end is counted already, which ``RouteNews/unconnected(cause:)`` tells of once more.
    private var isEndCounted = false
    /// The end of a connection that had something for so long, without an answer to anything, is the service's silence, although
    /// another connection has taken its place. What ends sooner may just have been given something.
    static let patience = Duration.seconds(5)
    /// Whether the service answers each notification.
    private let answersEach: Bool

    init(answersEach: Bool) { self.answersEach = answersEach }

    /// - Parameter wall: the time; asked when something has failed.
    mutating func take(_ news: RouteNews, wall: () -> WallTime) {
        switch news {
        case .connectFailed(let error, endpoint: _, wait: _, isOnly: true):
            isConnected = false
            failed(error, wall)
        case .connected:
            if !isConnected { (hasSent, hasAnswered) = (false, false) }
            (isConnected, isEndCounted) = (true, false)
            if !answersEach { away = nil }
        case .handedOut(_, first: _, last: _, count: _, connection: let number, possibleDuplicates: _):
            hasSent = true
            if answersEach, unanswered[number] == nil { unanswered[number] = wall() }
        case .endsSilent(let number, let cause):
            guard let since = unanswered[number] else { return }
            let now = wall()
            guard now.since(since) >= Self.patience else { return }
            isEndCounted = true
            failed(Self.unanswered(cause)) { now }
        case .disconnected(let number, endpoint: _, cause: _, isExpected: _): unanswered[number] = nil
        case .unconnected(let cause):
            let isUnanswered = isConnected && hasSent && !hasAnswered && answersEach && !isEndCounted
            (isConnected, isEndCounted) = (false, false)
            if let cause, isUnanswered {
                failed(Self.unanswered(cause), wall)
            }
        case _ where news.showsTakenCredentials: answered()
        // Refusals are answers, too.
        case .parked, .credentialsDoubted, .laneChanged(_, .stopped): answered()
        // Somebody else's, which shows that it is not silent.
        case .foreignAnswer: unanswered.removeAll(keepingCapacity: true)
        default: break
        }
    }

    /// - Parameter waiting: the route's unconfirmed entries.
    mutating func look(waiting: Int) { if isConnected, waiting == 0 { away = nil } }

    private static func unanswered(_ cause: String) -> ConnectError {
        ConnectError(.temporary, "a connection ended without an answer: \(cause)")
    }

    private mutating func failed(_ error: ConnectError, _ wall: () -> WallTime) {
        guard var away else {
            away = Away(since: wall(), error: error, failures: 1)
            return
        }
        away.error = error
        away.failures += 1
        self.away = away
    }

    private mutating func answered() {
        if !unanswered.isEmpty { unanswered.removeAll(keepingCapacity: true) }
        guard isConnected else { return }
        hasAnswered = true
        away = nil
    }
}
