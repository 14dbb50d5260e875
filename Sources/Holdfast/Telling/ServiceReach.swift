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
        /// Whether a connection was made since the last failure, on which nothing has been answered yet.
        var isConnected = false
        /// Connections that failed, or ended without an answer.
        var failures: Int
    }

    private(set) var away: Away?
    private var isConnected = false
    private var hasSent = false
    private var hasAnswered = false
    /// Since when each connection has something that nothing on the route has answered since.
    private var unanswered: [Int: Moment] = [:]
    /// Since when something is out and nothing was answered; nil while nothing is out.
    private var silentSince: Moment?
    /// All answers so far, as of the last turn.
    private var answerCount = 0
    /// The last two silences for which the service was away, and that an answer has ended within a request's time.
    private var slow: [(length: Duration, end: Duration)] = []
    /// The first and the last answer to a service that is away for its silence, by the monotonic clock.
    private var back: (first: Duration, last: Duration)?
    /// Whether a silent end is counted already, which ``RouteNews/unconnected(cause:)`` tells of once more.
    private var isEndCounted = false
    /// Connections that ended soon after they were given something, with nothing answered on the route since the first of these had
    /// something.
    private var fruitless: (count: Int, since: Duration)?
    /// The end of a connection that had something for so long, without an answer to anything, is the service's silence, although
    /// another connection has taken its place. What ends sooner may just have been given something: then it takes so many, in as
    /// long a time.
    static let patience = Duration.seconds(5)
    static let greatestFruitless = 3
    /// So long nothing is answered before that is told, although all connections are open.
    static let hesitation = Duration.seconds(10)
    /// A service was slow, and not away, where an answer has ended two such silences in so long. From then on silence is twice as
    /// long as those.
    static let memory = Duration.seconds(10 * 60)
    /// The longest that a request waits for its answer: no longer silence was that of a slow service.
    static let slowest = Duration.seconds(30)
    /// So long answers come before a service is back that is away for its silence, and that leaves something unanswered: one that
    /// answers the first request of each connection, and no other, is not.
    static let proof = Duration.seconds(1)
    /// Answers that are so far apart prove nothing together.
    static let greatestGap = Duration.seconds(20)
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
            away?.isConnected = true
            if !answersEach { away = nil }
        case .handedOut(_, first: _, last: _, count: _, connection: let number, possibleDuplicates: _):
            hasSent = true
            if answersEach, unanswered[number] == nil { unanswered[number] = moment() }
        case .endsSilent(let number, let cause):
            guard let since = unanswered[number] else { return }
            let now = moment()
            let before = fruitless ?? (0, since.monotonic)
            fruitless = (min(before.count + 1, Self.greatestFruitless), before.since)
            let isFruitless = fruitless?.count == Self.greatestFruitless
            guard now.monotonic - (isFruitless ? before.since : since.monotonic) >= Self.patience else { return }
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
        case .foreignAnswer:
            unanswered.removeAll(keepingCapacity: true)
            fruitless = nil
        default: break
        }
    }

    /// A turn is over.
    ///
    /// - Parameters:
    ///   - out: requests that have no answer.
    ///   - answers: all answers so far. Those of a Consumer that takes the route over begin anew.
    ///   - moment: the time; asked when something was answered, or has gone out and nothing was out before.
    mutating func turnEnded(out: Int, answers: Int, moment: () -> Moment) {
        guard answersEach else { return }
        let isAnswered = answers > answerCount
        answerCount = answers
        if isAnswered {
            let now = moment()
            if let silentSince, away?.isSilence ?? true {
                ended(silence: now.monotonic - silentSince.monotonic, now.monotonic)
            }
            silentSince = out > 0 ? now : nil
            if away?.isSilence == true { answeredInSilence(isAll: out == 0, now.monotonic) }
        } else if out == 0 {
            silentSince = nil
        } else if silentSince == nil {
            silentSince = moment()
        }
    }

    private mutating func ended(silence length: Duration, _ now: Duration) {
        guard length >= Self.hesitation, length <= Self.slowest else { return }
        slow = slow.suffix(1) + [(length, now)]
    }

    /// How long nothing is answered before that is told.
    private func hesitation(_ now: Duration) -> Duration {
        guard slow.count > 1, slow.allSatisfy({ now - $0.end < Self.memory }) else { return Self.hesitation }
        return (slow.map(\.length).max() ?? .zero) * 2
    }

    /// - Parameter isAll: whether nothing is out any more.
    private mutating func answeredInSilence(isAll: Bool, _ now: Duration) {
        var (first, last) = back ?? (now, now)
        if now - last > Self.greatestGap { first = now }
        last = now
        back = (first, last)
        guard isAll || last - first >= Self.proof else { return }
        (away, back) = (nil, nil)
    }

    /// When nothing has been answered for so long that it is to be told; nil where that is told.
    var nextLook: Duration? {
        away == nil ? silentSince.map { $0.monotonic + hesitation($0.monotonic) } : nil
    }

    /// - Parameters:
    ///   - waiting: the route's unconfirmed entries.
    ///   - isExplained: whether all that is out is of topics that are set aside for getting no answers.
    mutating func look(waiting: Int, isExplained: () -> Bool, at now: Moment) {
        if isConnected, waiting == 0 { away = nil }
        if let away, away.isSilence ? back != nil : away.isConnected, isExplained() { self.away = nil }
        if away == nil { back = nil }
        guard away == nil, let since = silentSince,
            now.monotonic - since.monotonic >= hesitation(since.monotonic)
        else { return }
        guard isConnected, waiting > 0, !isExplained() else {
            // What goes out from now on has its own time.
            silentSince = now
            return
        }
        let error = ConnectError(.temporary, "no request is answered")
        away = Away(since: since.wall, error: error, isSilence: true, failures: 0)
    }

    private static func unanswered(_ cause: String) -> ConnectError {
        ConnectError(.temporary, "a connection ended before anything was taken on it: \(cause)")
    }

    private mutating func failed(_ error: ConnectError, _ now: WallTime) {
        guard var away else {
            away = Away(since: now, error: error, failures: 1)
            return
        }
        (away.error, away.isSilence, away.isConnected) = (error, false, false)
        away.failures += 1
        self.away = away
    }

    private mutating func answered() {
        fruitless = nil
        if !unanswered.isEmpty { unanswered.removeAll(keepingCapacity: true) }
        guard isConnected else { return }
        hasAnswered = true
        // The end of a silence is told by answers alone: see ``turnEnded(out:answers:moment:)``.
        if away?.isSilence != true { away = nil }
    }
}
