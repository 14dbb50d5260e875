/// A token as far as one topic is concerned: an app's token is good for the app alone.
struct TokenOfTopic: Hashable, Sendable {
    let token: DeviceToken
    let topic: String
}

/// Judges tokens that were called bad, on one lane.
///
/// `BadDeviceToken` and `DeviceTokenNotForTopic` are what a bad token brings, and also what a wrong environment or topic
/// brings for every token. So whoever is answered so is first a *suspect*: still unconfirmed, not blacklisted. When most of
/// what is answered is suspect, the lane is wrong and not the tokens: the breaker trips, the lane stops, and the suspects go
/// back unharmed. Otherwise they are convicted.
///
/// A pure machine.
struct CircuitBreaker: Sendable {
    /// One that was called bad and waits for the judgement.
    struct Suspect: Sendable {
        let connection: Int
        let ticket: Ticket
        let flight: SentWindow.Flight
        let token: TokenOfTopic
        let result: SendResult
        /// By the wall clock: since when the token is bad, if it is convicted.
        let answeredAt: WallTime
    }

    enum Judgement: Sendable {
        case convict([Suspect])
        /// With what to tell people.
        case trip([Suspect], String)
    }

    var policy: SuspectPolicy
    /// Answers that refuse in the same way, one behind the other.
    var uniform = UniformRefusals()
    private(set) var suspects: [Suspect] = []
    private var firstAt: Duration?
    /// Confirmed since the first of the suspects was answered, and in the same turn before.
    private var confirmedMeanwhile = 0
    /// Confirmed in the turn that confirmed last: one turn's answers have no order between kinds.
    private var lastConfirmed: (at: Duration, count: Int)?
    /// Convicted since the lane last confirmed anything: in a wrong environment with thin traffic suspects come one by one.
    private var convictedSinceConfirmed = 0
    /// Whether the lane has confirmed anything since it was started or resumed.
    private var isProven = false

    init(policy: SuspectPolicy) { self.policy = policy }

    /// The service has taken so many.
    ///
    /// - Parameter now: of the turn, by the monotonic clock.
    mutating func confirmed(_ count: Int, now: Duration) {
        guard count > 0 else { return }
        isProven = true
        uniform.confirmed()
        convictedSinceConfirmed = 0
        if firstAt != nil { confirmedMeanwhile += count }
        if let last = lastConfirmed, last.at == now {
            lastConfirmed = (now, last.count + count)
        } else {
            lastConfirmed = (now, count)
        }
    }

    mutating func hold(_ suspect: Suspect, now: Duration) {
        if firstAt == nil {
            firstAt = now
            if let last = lastConfirmed, last.at == now { confirmedMeanwhile = last.count }
        }
        suspects.append(suspect)
    }

    /// When the suspects are judged at the latest.
    var judgementAt: Duration? { firstAt.map { $0 + policy.hold } }

    /// - Parameter now: by the monotonic clock.
    /// - Returns: nil while it is too early to say.
    mutating func judge(now: Duration) -> Judgement? {
        guard let judgementAt, suspects.count >= policy.greatestHeld || now >= judgementAt else { return nil }
        let held = suspects.count
        let answers = held + confirmedMeanwhile
        let share = Double(held) / Double(answers)
        let allowance = isProven ? policy.allowance : policy.allowanceUnproven
        let isWrong = share >= policy.tripShare && convictedSinceConfirmed + held > allowance
        let reason = suspects[held - 1].result.reason?.rawValue ?? "a bad token"
        let judged = release()
        guard !isWrong else {
            isProven = false
            return .trip(
                judged,
                "\(reason) for \(held) of the last \(answers) answers: the environment or the topic looks wrong. "
                    + "They were not blacklisted; the lane runs again when one that it tries is taken")
        }
        convictedSinceConfirmed += held
        return .convict(judged)
    }

    /// Lets one go without a judgement: it is not to be sent any more.
    ///
    /// - Returns: whether it was one of them.
    mutating func release(_ uid: UID) -> Bool {
        guard let index = suspects.firstIndex(where: { $0.flight.uid == uid }) else { return false }
        suspects.remove(at: index)
        if suspects.isEmpty { _ = release() }
        return true
    }

    /// Lets all suspects go without a judgement.
    mutating func release() -> [Suspect] {
        defer {
            suspects = []
            firstAt = nil
            confirmedMeanwhile = 0
        }
        return suspects
    }
}

/// How suspects are judged. See ``PushEngine`` and Docs/Answers.md.
public struct SuspectPolicy: Hashable, Sendable {
    /// How long a suspect waits for its judgement at most. Default: 5 s.
    public var hold: Duration = .seconds(5)
    /// How many wait on a lane at most; so many are judged at once. Default: 100.
    public var greatestHeld = 100
    /// The share of suspects among a lane's answers, 0 to 1, from which on the lane and not the tokens is wrong.
    /// Default: 0.75.
    public var tripShare = 0.75
    /// Convictions, since the lane last confirmed something, that the breaker tolerates at any share. Default: 9.
    public var allowance = 9
    /// The same on a lane that has confirmed nothing since it was started or resumed. Default: 2.
    public var allowanceUnproven = 2
    /// How many answers of a lane that reject for the same reason, one behind the other with nothing confirmed in between, are
    /// believed. Those behind them stay in the journal, and the lane stops. Default: 500.
    public var greatestUniform = 500

    public init() {}
}
