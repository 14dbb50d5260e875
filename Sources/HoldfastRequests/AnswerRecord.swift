/// Decides whether a connection still does its work, by its answers and its unanswered requests.
///
/// A pure machine.
package struct AnswerRecord {
    /// The meaning of an answer for the connection that it came on.
    package enum Standing: Hashable, Sendable {
        /// It is about the request.
        case answered
        /// An error of the service: status 500.
        case failed
        /// A refusal that says nothing about the request, only of who answers: any other 5xx, 429, 403, or a foreign answer.
        case refused

        /// The meaning of a status alone.
        package init(status: Int) {
            switch status {
            case 500: self = .failed
            case 403, 429, 501...: self = .refused
            default: self = .answered
            }
        }
    }

    /// The fault of a connection, as a text to append to the name of an address.
    enum Fault: String, Equatable {
        case silent = "keeps connections open and answers no request"
        case patchy = "answers some requests and not others"
    }

    /// The number of answers in a row with status 500 that ask for another connection after ``errorTime``.
    static let errorsInARow = 5
    /// The time of nothing but status 500 that asks for another connection, or the send deadline if that is shorter.
    /// Errors about single notifications come in clusters, too, but others are taken soon.
    static let errorTime = Duration.seconds(10)
    /// The number of refusals in a row, about no notification, that ask for another connection after ``refusalTime``.
    static let refusalsInARow = 3
    /// The time of nothing but refusals that asks for another connection: a balancer may have given this one to the only
    /// faulty server. A throttled route or a stopped lane sends ever more seldom, so connections change ever more seldom.
    static let refusalTime = Duration.seconds(30)
    /// The number of unanswered requests that make a connection patchy, with ``answeredForEach``.
    static let leastUnanswered = 5
    /// The number of answers for each unanswered request above which a connection is not patchy.
    static let answeredForEach = 10

    private let sendDeadline: Duration
    private var lastAnswer: Duration
    /// Answers with status 500 since the last other answer.
    private var errors = Streak(enough: errorsInARow)
    /// Refusals that are not about a notification, 500s among them.
    private var refusals = Streak(enough: refusalsInARow)
    /// Whether another connection was asked for since something was taken.
    private var hasAsked = false
    /// The numbers of this minute and of the last one.
    private var answered = (now: 0, before: 0)
    private var unanswered = (now: 0, before: 0)

    init(sendDeadline: Duration, now: Duration) {
        self.sendDeadline = sendDeadline
        lastAnswer = now
    }

    /// - Returns: how long there have been refusals alone, where another connection is asked for.
    mutating func record(_ standing: Standing, at now: Duration) -> Duration? {
        switch standing {
        case .answered:
            answered(1, at: now)
            return nil
        case .failed: return failed(at: now)
        case .refused: return refused(at: now)
        }
    }

    mutating func answered(_ count: Int, at now: Duration) {
        guard count > 0 else { return }
        lastAnswer = now
        answered.now += count
        errors.end()
        refusals.end()
        hasAsked = false
    }

    /// An answer that says nothing about its notification, only of who answers: 5xx, 429, 403, or a foreign one.
    ///
    /// - Returns: how long there has been nothing else, once it is long enough. Nil otherwise, and behind the first time.
    mutating func refused(at now: Duration) -> Duration? {
        lastAnswer = now
        answered.now += 1
        errors.end()
        return ask(refusals.add(at: now, lasting: Self.refusalTime))
    }

    /// An answer with status 500.
    ///
    /// - Returns: how long there has been nothing else, once it is long enough: the connection, or who is behind it,
    ///   may be the reason. Nil otherwise, and behind the first time.
    mutating func failed(at now: Duration) -> Duration? {
        lastAnswer = now
        answered.now += 1
        let refused = refusals.add(at: now, lasting: Self.refusalTime)
        return ask(errors.add(at: now, lasting: min(Self.errorTime, sendDeadline)) ?? refused)
    }

    private mutating func ask(_ time: Duration?) -> Duration? {
        guard !hasAsked, let time else { return nil }
        hasAsked = true
        return time
    }

    /// Requests have reached their deadline without an answer.
    mutating func gaveUp(_ count: Int, at now: Duration) -> Fault? {
        unanswered.now += count
        if now - lastAnswer >= sendDeadline { return .silent }
        let unanswered = unanswered.now + unanswered.before
        let isMuch = unanswered * Self.answeredForEach >= answered.now + answered.before
        return unanswered >= Self.leastUnanswered && isMuch ? .patchy : nil
    }

    /// Once a minute.
    mutating func turn() {
        answered = (0, answered.now)
        unanswered = (0, unanswered.now)
    }

    /// Answers of one kind, one behind the other.
    private struct Streak {
        /// So many may be a reason to ask for another connection.
        let enough: Int
        private var count = 0
        private var first: Duration?

        init(enough: Int) { self.enough = enough }

        /// - Returns: since when there has been nothing else, once there are enough of them and it is so long.
        mutating func add(at now: Duration, lasting time: Duration) -> Duration? {
            count += 1
            let first = first ?? now
            self.first = first
            return count >= enough && now - first >= time ? now - first : nil
        }

        mutating func end() { (count, first) = (0, nil) }
    }
}
