internal import Holdfast
package import HoldfastRequests

/// All access tokens of the process, one for each account and key, or command.
package final class AccessTokenRegistry: Sendable {
    package static let shared = AccessTokenRegistry(clock: .system)

    private struct WeakShare: Sendable {
        weak let share: TokenShare?
    }

    private struct Entry: Sendable {
        let source: AccessTokenSource
        let isShared: Bool
    }

    private let clock: EngineClock
    /// A source outlives its last connector, so that a connector made a moment later does not fetch again.
    private let sources = Monitor<[String: Entry]>([:])
    private let share = Monitor<WeakShare?>(nil)

    init(clock: EngineClock) { self.clock = clock }

    /// The source of these credentials, which fetches in this way from now on.
    ///
    /// - Parameter isShared: whether hosts may share the token: not one that depends on the machine.
    func source(
        name: String, fingerprint: [UInt8], isShared: Bool, fetcher: any AccessTokenFetcher
    ) -> AccessTokenSource {
        let key = "\(name)/\(Hex.string(fingerprint))"
        return sources.withLock { sources in
            if let entry = sources[key] {
                entry.source.use(fetcher)
                return entry.source
            }
            let source = AccessTokenSource(fetcher, name: name, fingerprint: fingerprint, clock: clock) { [weak self] in
                isShared ? self?.share.withLock { $0?.share } : nil
            }
            sources[key] = Entry(source: source, isShared: isShared)
            return source
        }
    }
}

extension AccessTokenRegistry: SharedTokenRegistry {
    package var sharedTokens: [any SharedTokens] {
        sources.withLock { $0.values.filter(\.isShared).map(\.source) }
    }

    package func join(_ share: TokenShare) { self.share.withLock { $0 = WeakShare(share: share) } }
}
