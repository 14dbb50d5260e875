/// How suspects are judged. See ``PushEngine`` and Docs/Reference/Answers.md.
public struct SuspectPolicy: Hashable, Sendable {
    /// How long a suspect waits for its judgement at most. Those that are called bad while others wait may wait once more.
    /// Default: 5 s.
    public var hold: Duration = .seconds(5)
    /// From so many suspects of a topic they are judged as soon as as many answers have come to what was sent after theirs.
    /// Of a topic of which nothing was confirmed yet, from ten times as many.
    /// Default: 100.
    public var greatestHeld = 100
    /// The share of suspects among a topic's answers, 0 to 1, from which on the topic and not the tokens is wrong.
    /// Default: 0.75.
    public var tripShare = 0.75
    /// Convictions, since the topic's last confirmation, that the breaker tolerates at any share. Of more suspects at once
    /// each is sent once more, and convicted only when it is called bad again. Default: 9.
    public var allowance = 9
    /// How many entries of a topic of which nothing was confirmed yet are tried without a pause, although all are called bad.
    /// None of their tokens is convicted. Default: 2.
    public var allowanceUnproven = 2
    /// How many answers of a lane that reject for the same reason, one behind the other with nothing confirmed in between, are
    /// believed. Those behind them stay in the journal, and the lane stops. The same of answers that a topic's tokens are gone
    /// (410), behind which the topic is set aside. Default: 500.
    public var greatestUniform = 500

    /// Creates the default policy.
    public init() {}

    /// How long one waits whose words don't suffice for a conviction, until it is sent once more.
    var pause: Duration { hold * 6 }

    /// For how long it counts against a service's word that it took a token which it had called bad.
    var distrust: Duration { hold * 120 }

    /// The same of a topic of which nothing was confirmed yet: there nobody is convicted anyway.
    var greatestHeldUnproven: Int { min(greatestHeld, .max / 10) * 10 }
}
