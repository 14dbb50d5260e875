internal import Holdfast
package import HoldfastRequests

/// The one provider token of a signing key, shared by all connections, connectors and engines of the process: see
/// ``ProviderTokenRegistry``. ``TokenSchedule`` decides when there is another.
package final class ProviderTokenSource: Sendable {
    let signingKey: APNsSigningKey
    let clock: EngineClock
    let schedule = Monitor(TokenSchedule())
    /// Those who are told of each new token.
    package let keepers = TokenKeepers()

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
        if isNew { keepers.tell(of: self) }
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
        if isNew { keepers.tell(of: self, endsRefusal: true) }
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
        if isNew { keepers.tell(of: self) }
        return token
    }

    /// The service has answered TooManyProviderTokenUpdates: nothing is minted for twenty minutes.
    package func holdMinting() {
        let monotonic = clock.monotonic()
        schedule.withLock { $0.tooMany(monotonic: monotonic) }
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
}

extension ProviderTokenSource: KeptTokens {
    package func look() {
        do throws(APNsConfigurationError) {
            try rescue()
        } catch {
            // The next request for a token gets the error.
        }
    }
}
