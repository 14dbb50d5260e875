internal import Holdfast

/// The one provider token of a signing key, shared by all connections, connectors and engines of the process: see
/// ``ProviderTokenRegistry``. ``TokenSchedule`` decides when there is another.
package final class ProviderTokenSource: Sendable {
    /// Keeps tokens for the time after a restart.
    protocol Keeper: AnyObject, Sendable {
        /// The source has another token than before.
        ///
        /// - Parameter endsRefusal: whether the service has refused the one before, and takes this one for all that the
        ///   clock tells: lanes that have stopped for it run again.
        func keep(_ source: ProviderTokenSource, endsRefusal: Bool)
    }

    private struct WeakKeeper: Sendable {
        weak let keeper: (any Keeper)?
    }

    let signingKey: APNsSigningKey
    private let clock: EngineClock
    private let schedule = Monitor(TokenSchedule())
    private let keepers = Monitor<[WeakKeeper]>([])

    init(_ signingKey: APNsSigningKey, clock: EngineClock = .system) {
        self.signingKey = signingKey
        self.clock = clock
    }

    /// The token to send with now.
    package func current() throws(APNsConfigurationError) -> Token {
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        try rescue()
        let (token, isNew) = try schedule.withLock { schedule throws(APNsConfigurationError) in
            if let token = schedule.current(wall: wall, monotonic: monotonic) { return (token, false) }
            let fresh = try Token(signingKey, at: wall, isReplacement: false)
            schedule.minted(fresh, monotonic: monotonic)
            return (fresh, true)
        }
        if isNew { tellKeepers() }
        return token
    }

    /// The service has refused credentials that were shown with `token`.
    package func refused(_ token: Token) { schedule.withLock { $0.refused(token) } }

    /// Replaces a token that the service has refused, once the wall clock shows that it was minted by a wrong one. Lanes
    /// that have stopped ask for no token: so this is looked at from time to time.
    func rescue() throws(APNsConfigurationError) {
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        let isNew = try schedule.withLock { schedule throws(APNsConfigurationError) in
            guard schedule.wantsRescue(wall: wall, monotonic: monotonic) else { return false }
            schedule.rescued(
                by: try Token(signingKey, at: wall, isReplacement: true), monotonic: monotonic)
            return true
        }
        if isNew { tellKeepers(endsRefusal: true) }
    }

    /// The service called `token` expired.
    ///
    /// - Returns: the one to use instead; nil when a fresh one was called expired too: then the clocks disagree.
    package func replace(_ expired: Token) throws(APNsConfigurationError) -> Token? {
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        let (token, isNew) = try schedule.withLock { schedule throws(APNsConfigurationError) -> (Token?, Bool) in
            switch schedule.replacement(for: expired, monotonic: monotonic) {
            case .use(let token): return (token, false)
            case .clocksDisagree: return (nil, false)
            case .held(let rest):
                throw APNsConfigurationError(
                    "the provider token is called expired, and the service takes no new one for another "
                        + "\(rest.components.seconds / 60 + 1) minutes")
            case .mint:
                let fresh = try Token(signingKey, at: wall, isReplacement: true)
                schedule.minted(fresh, monotonic: monotonic)
                return (fresh, true)
            }
        }
        if isNew { tellKeepers() }
        return token
    }

    /// The service has answered TooManyProviderTokenUpdates: nothing is minted for twenty minutes.
    package func holdMinting() {
        let monotonic = clock.monotonic()
        schedule.withLock { $0.tooMany(monotonic: monotonic) }
    }

    // MARK: With other hosts

    /// Compares with what hosts share, and uses it if it is newer.
    ///
    /// - Parameter note: of the token that hosts share; nil for none.
    /// - Returns: a token for all, to be shared and then adopted; nil where there is nothing to do.
    func exchange(_ note: [UInt8]?) throws(APNsConfigurationError) -> Token? {
        let shared = note.flatMap { Token(note: $0, signingKey) }
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        let (before, step, after) = schedule.withLock { schedule in
            let before = schedule.token
            let step = schedule.exchange(shared, wall: wall, monotonic: monotonic)
            return (before, step, schedule.token)
        }
        if before != after { tellKeepers() }
        switch step {
        case .settled: return nil
        case .offer(let token): return token
        case .mint: return try Token(signingKey, at: wall, isReplacement: false)
        }
    }

    /// The store has a token of this host, which all use from now on.
    func adopt(_ token: Token) {
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        let isNew = schedule.withLock { schedule in
            // A route may have minted another meanwhile, which is offered next.
            if let other = schedule.token, other.mintedAt >= token.mintedAt { return false }
            return schedule.adopt(token, wall: wall, monotonic: monotonic)
        }
        if isNew { tellKeepers() }
    }

    // MARK: Across restarts

    package var noteName: String { Token.noteName(signingKey) }

    /// The note to keep; `nil` when there is no token yet.
    package var note: [UInt8]? { schedule.withLock(\.token)?.note(signingKey) }

    /// Takes over a note of an earlier process, if it is a token of this key, young enough, and there is none yet.
    ///
    /// - Returns: whether it is used.
    @discardableResult
    package func restore(_ note: [UInt8]) -> Bool {
        guard let token = Token(note: note, signingKey) else { return false }
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        return schedule.withLock { $0.restore(token, wall: wall, monotonic: monotonic) }
    }

    /// Is told of each new token, for as long as it lives.
    func add(_ keeper: any Keeper) {
        keepers.withLock { keepers in
            keepers.removeAll { $0.keeper == nil || $0.keeper === keeper }
            keepers.append(WeakKeeper(keeper: keeper))
        }
    }

    private func tellKeepers(endsRefusal: Bool = false) {
        for keeper in keepers.withLock({ $0.compactMap(\.keeper) }) { keeper.keep(self, endsRefusal: endsRefusal) }
    }
}

/// All provider tokens of the process, one for each team, key identifier and key: the service counts how many it is shown.
final class ProviderTokenRegistry: Sendable {
    static let shared = ProviderTokenRegistry(clock: .system)

    private struct Name: Hashable, Sendable {
        let teamID: String
        let keyID: String
        let fingerprint: [UInt8]
    }

    private let clock: EngineClock
    /// One source for each key that the process has ever used. A source outlives its last connector, so that a connector
    /// made a moment later does not mint again.
    private let sources = Monitor<[Name: ProviderTokenSource]>([:])

    init(clock: EngineClock) { self.clock = clock }

    /// The sources of all keys that the process has used.
    var all: [ProviderTokenSource] { sources.withLock { Array($0.values) } }

    func source(for key: APNsSigningKey) -> ProviderTokenSource {
        let name = Name(teamID: key.teamID, keyID: key.keyID, fingerprint: key.fingerprint)
        return sources.withLock { sources in
            if let source = sources[name] { return source }
            let source = ProviderTokenSource(key, clock: clock)
            sources[name] = source
            return source
        }
    }
}
