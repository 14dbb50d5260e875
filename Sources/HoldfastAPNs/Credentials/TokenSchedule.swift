internal import Holdfast

/// When a provider token is used, and when another is minted.
///
/// Apple (*Establishing a token-based connection to APNs*): refresh no sooner than every 20 minutes and no later than every
/// 60. The service counts; whoever mints more often is answered 429 TooManyProviderTokenUpdates. The one exception is a
/// replacement for a token that it called expired.
///
/// A pure machine. It is told two times: the wall clock's, which is in the token and which may be set, and the monotonic
/// one, by which the service's patience is measured.
struct TokenSchedule: Sendable {
    typealias Token = ProviderTokenSource.Token

    /// What is done when the service has called a token expired.
    enum Replacement: Equatable {
        /// Another connection has had it replaced already.
        case use(Token)
        case mint
        /// A token that was minted just now was called expired: then the clocks disagree.
        case clocksDisagree
        /// The service wants no new ones for so long.
        case held(Duration)
    }

    /// From this age on it is minted anew.
    static let refreshAge = Duration.seconds(50 * 60)
    /// From one minting to the next.
    static let leastInterval = Duration.seconds(20 * 60)
    /// How long nothing is minted after TooManyProviderTokenUpdates.
    static let hold = Duration.seconds(20 * 60)

    private(set) var token: Token?
    /// By the monotonic clock.
    private var mintedAt: Duration?
    private var heldUntil: Duration?

    /// The token to use now; nil when one is to be minted.
    func current(wall: WallTime, monotonic: Duration) -> Token? {
        guard let token else { return nil }
        // One from the future is one from before the clock was set back.
        let isFresh = (Duration.zero..<Self.refreshAge).contains(wall.since(token.mintedAt))
        return isFresh || !mayMint(at: monotonic) ? token : nil
    }

    /// The service has called `expired` expired.
    func replacement(for expired: Token, monotonic: Duration) -> Replacement {
        if let token, token != expired { return .use(token) }
        if let heldUntil, monotonic < heldUntil { return .held(heldUntil - monotonic) }
        return expired.isReplacement && !mayMint(at: monotonic) ? .clocksDisagree : .mint
    }

    mutating func minted(_ token: Token, monotonic: Duration) {
        self.token = token
        mintedAt = monotonic
    }

    /// Takes over what an earlier process minted, unless there is one already, or it is too old, or from the future.
    ///
    /// - Returns: whether it is used.
    mutating func restore(_ restored: Token, wall: WallTime, monotonic: Duration) -> Bool {
        let age = wall.since(restored.mintedAt)
        guard token == nil, (Duration.zero..<Self.refreshAge).contains(age) else { return false }
        token = restored
        mintedAt = monotonic - age
        return true
    }

    /// The service has said that there were too many.
    mutating func tooMany(monotonic: Duration) { heldUntil = monotonic + Self.hold }

    private func mayMint(at monotonic: Duration) -> Bool {
        if let heldUntil, monotonic < heldUntil { return false }
        guard let mintedAt else { return true }
        return monotonic - mintedAt >= Self.leastInterval
    }
}
