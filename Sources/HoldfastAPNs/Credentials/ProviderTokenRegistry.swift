internal import Holdfast
package import HoldfastRequests

/// All provider tokens of the process, one for each team, key identifier and key: the service counts how many it is shown.
package final class ProviderTokenRegistry: Sendable {
    package static let shared = ProviderTokenRegistry(clock: .system)

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

extension ProviderTokenRegistry: SharedTokenRegistry {
    package var sharedTokens: [any SharedTokens] { sources.withLock { Array($0.values) } }

    /// A token is minted here: nobody is asked for one out of turn.
    package func join(_ share: TokenShare) {}
}
