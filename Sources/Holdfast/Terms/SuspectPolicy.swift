/// When a token that the service calls bad (a suspect) is blacklisted. See Docs/Reference/Answers.md.
public struct SuspectPolicy: Hashable, Sendable {
    /// The longest wait of a suspect for its decision. Suspects that come meanwhile may wait as long again. Default: 5 s.
    public var hold: Duration = .seconds(5)
    /// The number of waiting suspects of a topic from which they are decided sooner: as soon as as many answers have come to
    /// entries that were sent after them. Ten times as many for a topic without any confirmation. Default: 100.
    public var greatestHeld = 100
    /// The share of suspects among a topic's answers, 0 to 1, from which the topic counts as wrong, and not the tokens.
    /// Default: 0.75.
    public var tripShare = 0.75
    /// The number of tokens that may be blacklisted since the topic's last confirmation, at any share. If more suspects wait,
    /// each is sent once more, and blacklisted only if it is called bad again. Default: 9.
    public var allowance = 9
    /// The number of entries of a topic without any confirmation that are tried without a pause, although all are called bad.
    /// None of their tokens is blacklisted. Default: 2.
    public var allowanceUnproven = 2
    /// The most consecutive rejections of a lane for one reason that are believed. After them the lane stops, and its other
    /// entries stay in the journal. Likewise for answers that a topic's tokens are gone (410), after which the topic is set
    /// aside. Default: 500.
    public var greatestUniform = 500

    /// Creates the default policy.
    public init() {}

    /// The wait of a suspect before it is sent once more, if there is too little evidence to blacklist it.
    var pause: Duration { hold * 6 }

    /// How long the service is distrusted after it took a token that it had called bad.
    var distrust: Duration { hold * 120 }

    /// ``greatestHeld`` for a topic without any confirmation, of which no token is blacklisted anyway.
    var greatestHeldUnproven: Int { min(greatestHeld, .max / 10) * 10 }
}
