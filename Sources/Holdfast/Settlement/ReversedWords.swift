/// Counts how often a service takes, at a second try, a token of the topic that it has called bad.
///
/// A service that calls tokens bad at random does so twice for some of them, and takes the others at the second try, which a
/// healthy service does not. While that happens more than now and then, its refusals blacklist no token.
///
/// A pure machine.
struct ReversedWords: Sendable {
    /// So many in the last ``window`` tries are no accident, where they are more than ``share`` of them.
    static let least = 3
    static let share = 0.05
    static let window = 100

    private var upheld = 0
    private var reversed = 0
    private var lastAt = Duration.zero

    /// Tokens were called bad once more.
    mutating func upheld(_ count: Int) {
        upheld += count
        fade()
    }

    /// A token that was called bad was taken.
    mutating func reversed(now: Duration) {
        reversed += 1
        lastAt = now
        fade()
    }

    /// Older tries count for half.
    private mutating func fade() {
        while upheld + reversed > 2 * Self.window { (upheld, reversed) = (upheld / 2, (reversed + 1) / 2) }
    }

    /// Time has passed. Once more is enough then to lose the trust again.
    ///
    /// - Parameter memory: how long it counts that a token was taken.
    mutating func look(now: Duration, memory: Duration) {
        guard reversed >= Self.least, now - lastAt >= memory else { return }
        (upheld, reversed) = (0, Self.least - 1)
    }

    /// - Parameter upheld: tokens that were called bad once more, and are not counted yet.
    func isTooOften(upheld more: Int = 0) -> Bool {
        reversed >= Self.least && Double(reversed) > Self.share * Double(upheld + reversed + more)
    }
}
