internal import Holdfast

/// Decides when a provider token is used, and when another is minted.
///
/// Apple (*Establishing a token-based connection to APNs*): refresh no sooner than every 20 minutes and no later than every
/// 60. The service counts, and answers a sender that mints more often with 429 TooManyProviderTokenUpdates. Two kinds of
/// useless tokens are replaced early: a token that the service called expired, and a token that it refused and that was
/// minted by a wrong clock, as the clock shows once it is set.
///
/// A pure machine. It is told two times: the wall clock's, which is in the token and may be set, and the monotonic clock's,
/// by which the intervals of the service are measured.
struct TokenSchedule: Sendable {
    typealias Token = ProviderTokenSource.Token

    /// The reaction to a token that the service has called expired.
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
    /// The interval without minting after TooManyProviderTokenUpdates.
    static let hold = Duration.seconds(20 * 60)

    /// A token may be from so far in the future: clocks are a little apart.
    static let futureTolerance = Duration.seconds(60)

    private(set) var token: Token?
    /// The service has refused it.
    private var isRefused = false
    /// When one was last minted because a clock was set, by the monotonic clock. A clock that swings gets no more than one
    /// in twenty minutes.
    private var rescuedAt: Duration?
    /// The time of the last minting, by the monotonic clock.
    private var mintedAt: Duration?
    private var heldUntil: Duration?

    /// The token to use now; nil when one is to be minted.
    func current(wall: WallTime, monotonic: Duration) -> Token? {
        guard let token else { return nil }
        return Self.isGood(token, at: wall) || !mayMint(at: monotonic) ? token : nil
    }

    /// Whether a token may be used, from any minter. A token from the future was minted before the clock was set back.
    private static func isGood(_ token: Token, at wall: WallTime) -> Bool {
        (.zero - futureTolerance..<refreshAge).contains(wall.since(token.mintedAt))
    }

    /// Whether the service has refused the token, and by now the wall clock shows why: it was minted by a wrong one. Then
    /// it is replaced out of turn. (One that the service takes stays, whatever the clock says: it may be wrong now.)
    func wantsRescue(wall: WallTime, monotonic: Duration) -> Bool {
        guard let token, isRefused, !Self.isGood(token, at: wall), !isHeld(at: monotonic) else { return false }
        return rescuedAt.map { monotonic - $0 >= Self.leastInterval } ?? true
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
        isRefused = false
    }

    /// Takes the token that ``wantsRescue(wall:monotonic:)`` has asked for.
    mutating func rescued(by token: Token, monotonic: Duration) {
        minted(token, monotonic: monotonic)
        rescuedAt = monotonic
    }

    /// The service has refused `refused`, and credentials with it.
    mutating func refused(_ refused: Token) { if refused == token { isRefused = true } }

    /// Takes over the token of an earlier process, unless there is one already, or it is too old, or from the future.
    ///
    /// - Returns: whether it is used.
    mutating func restore(_ restored: Token, wall: WallTime, monotonic: Duration) -> Bool {
        guard token == nil, Self.isGood(restored, at: wall) else { return false }
        token = restored
        mintedAt = monotonic - max(wall.since(restored.mintedAt), .zero)
        return true
    }

    // MARK: With other hosts

    /// What is to be done about the token that hosts share.
    enum Exchange: Equatable {
        /// Nothing, or what was shared is used from now on.
        case settled
        /// This host's token is to be the one of all.
        case offer(Token)
        /// Another is to be minted for all.
        case mint
    }

    /// From this age on a token is minted for all hosts, before any would mint one alone.
    static let sharedAge = Duration.seconds(40 * 60)

    /// Compares with what hosts share, and uses it if it is newer.
    ///
    /// - Parameter shared: nil for none.
    mutating func exchange(_ shared: Token?, wall: WallTime, monotonic: Duration) -> Exchange {
        if let shared, shared != token, token.map({ shared.mintedAt >= $0.mintedAt }) ?? true,
            !adopt(shared, wall: wall, monotonic: monotonic), wall < shared.mintedAt
        {
            // One from the future is its host's mistake, or this one's.
            return .settled
        }
        guard let token, Self.isGood(token, at: wall) else { return mayMint(at: monotonic) ? .mint : .settled }
        if wall.since(token.mintedAt) >= Self.sharedAge, mayMint(at: monotonic) { return .mint }
        return token == shared ? .settled : .offer(token)
    }

    /// Uses a token of this or another host, if it is good.
    ///
    /// - Returns: whether it is used.
    mutating func adopt(_ shared: Token, wall: WallTime, monotonic: Duration) -> Bool {
        guard Self.isGood(shared, at: wall) else { return false }
        token = shared
        mintedAt = monotonic - max(wall.since(shared.mintedAt), .zero)
        isRefused = false
        return true
    }

    /// The service has said that there were too many.
    mutating func tooMany(monotonic: Duration) { heldUntil = monotonic + Self.hold }

    private func mayMint(at monotonic: Duration) -> Bool {
        guard !isHeld(at: monotonic) else { return false }
        guard let mintedAt else { return true }
        return monotonic - mintedAt >= Self.leastInterval
    }

    private func isHeld(at monotonic: Duration) -> Bool { heldUntil.map { monotonic < $0 } ?? false }
}
