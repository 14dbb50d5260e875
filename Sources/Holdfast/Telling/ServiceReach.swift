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
        /// Whether it has connections, and no answer: none has failed for that yet.
        var isSilence = false
        /// Connections that failed, or ended without an answer.
        var failures: Int
    }

    private(set) var away: Away?
    private var isConnected = false
    private var hasSent = false
    private var hasAnswered = false
    /// Since when each connection has something that nothing on the route has answered since.
    private var unanswered: [Int: Moment] = [:]
    /// The time of the last look, by the monotonic clock.
    private var lookedAt = Duration.zero
    /// Whether a silent end is counted already, which ``RouteNews/unconnected(cause:)`` tells of once more.
    private var isEndCounted = false
    /// The end of a connection that had something for so long, without an answer to anything, is the service's silence, although
    /// another connection has taken its place. What ends sooner may just have been given something.
    static let patience = Duration.seconds(5)
    /// So long nothing is answered before that is told, although all connections are open.
    static let hesitation = Duration.seconds(10)
    /// Whether the service answers each notification.
    private let answersEach: Bool

    init(answersEach: Bool) { self.answersEach = answersEach }

    /// - Parameter moment: the time; asked when something has failed, or is sent.
    mutating func take(_ news: RouteNews, moment: () -> Moment) {
        switch news {
        case .connectFailed(let error, endpoint: _, wait: _, isOnly: true):
            isConnected = false
            failed(error, moment().wall)
        case .connected:
            if !isConnected { (hasSent, hasAnswered) = (false, false) }
            (isConnected, isEndCounted) = (true, false)
            if !answersEach { away = nil }
        case .handedOut(_, first: _, last: _, count: _, connection: let number, possibleDuplicates: _):
            hasSent = true
            if answersEach, unanswered[number] == nil { unanswered[number] = moment() }
        case .endsSilent(let number, let cause):
            guard let since = unanswered[number] else { return }
            let now = moment()
            guard now.monotonic - since.monotonic >= Self.patience else { return }
            isEndCounted = true
            failed(Self.unanswered(cause), now.wall)
        case .disconnected(let number, endpoint: _, cause: _, isExpected: _): unanswered[number] = nil
        case .unconnected(let cause):
            let isUnanswered = isConnected && hasSent && !hasAnswered && answersEach && !isEndCounted
            (isConnected, isEndCounted) = (false, false)
            if let cause, isUnanswered {
                failed(Self.unanswered(cause), moment().wall)
            }
        case _ where news.showsTakenCredentials: answered()
        // Refusals are answers, too.
        case .parked, .credentialsDoubted, .laneChanged(_, .stopped): answered()
        // Somebody else's, which shows that it is not silent.
        case .foreignAnswer: unanswered.removeAll(keepingCapacity: true)
        default: break
        }
    }

    /// When nothing has been answered for so long that it is to be told; nil where that was looked at, or is told.
    var nextLook: Duration? {
        guard away == nil, let since = unansweredSince else { return nil }
        let time = since.monotonic + Self.hesitation
        return time > lookedAt ? time : nil
    }

    private var unansweredSince: Moment? { unanswered.values.min { $0.monotonic < $1.monotonic } }

    /// - Parameters:
    ///   - waiting: the route's unconfirmed entries.
    ///   - isTopics: whether a topic is set aside for getting no answers, which explains the silence.
    mutating func look(waiting: Int, isTopics: Bool, at now: Moment) {
        lookedAt = now.monotonic
        if isConnected, waiting == 0 { away = nil }
        guard away == nil, waiting > 0, !isTopics, let since = unansweredSince,
            now.monotonic - since.monotonic >= Self.hesitation
        else { return }
        let error = ConnectError(.temporary, "no request is answered")
        away = Away(since: since.wall, error: error, isSilence: true, failures: 0)
    }

    private static func unanswered(_ cause: String) -> ConnectError {
        ConnectError(.temporary, "a connection ended without an answer: \(cause)")
    }

    private mutating func failed(_ error: ConnectError, _ now: WallTime) {
        guard var away else {
            away = Away(since: now, error: error, failures: 1)
            return
        }
        (away.error, away.isSilence) = (error, false)
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
