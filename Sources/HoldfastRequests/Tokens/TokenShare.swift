internal import Holdfast

/// A place where hosts keep the tokens that they share, such as a database. A token is a secret for an hour.
package protocol SharedTokenStore: Sendable {
    /// - Returns: the note of this name and its version; nil for none.
    func read(_ name: String) async throws -> (note: [UInt8], version: Int64)?

    /// Writes a note if it is still of the version that was seen, 0 for none.
    ///
    /// - Returns: whether it was.
    func swap(_ name: String, seen: Int64, _ note: [UInt8]) async throws -> Bool
}

/// The token of some credentials, as hosts share it.
package protocol SharedTokens: AnyObject, Sendable {
    /// The name of its note in the store. Other credentials of the same name have another one.
    var sharedName: String { get }

    /// Compares with what hosts share, and uses it if it is newer.
    ///
    /// - Parameter note: of the token that hosts share; nil for none. It may be of an older token, or of anything.
    /// - Returns: the note to be written for all hosts; nil where there is nothing to write.
    func exchange(_ note: [UInt8]?) throws -> [UInt8]?

    /// The store has this note of ours: all hosts use its token from now on.
    func adopt(_ note: [UInt8])
}

/// The tokens of one kind in this process.
package protocol SharedTokenRegistry: AnyObject, Sendable {
    /// The tokens that hosts may share.
    var sharedTokens: [any SharedTokens] { get }

    /// From now on this share exchanges them, and may be asked to do so out of turn. It is not kept alive.
    func join(_ share: TokenShare)
}

/// Has all hosts send with the same token, which one of them gets for all.
///
/// Works beside the routes: a route's thread takes the token that there is, and waits for no store. Of hosts that offer a token at
/// once one wins, and the others take its token. While the store is away, every host gets its tokens as it would alone.
package final class TokenShare: Sendable {
    private let store: any SharedTokenStore
    private let registries: [any SharedTokenRegistry]
    private let interval: Duration
    /// The last exchange has failed.
    private let isAway = Monitor(false)
    /// After one that failed.
    private static let retry = Duration.seconds(2)

    package init(
        _ store: any SharedTokenStore, of registries: [any SharedTokenRegistry], interval: Duration = .seconds(60)
    ) {
        self.store = store
        self.registries = registries
        self.interval = interval
        for registry in registries { registry.join(self) }
    }

    /// Exchanges all tokens of the process, until the task is cancelled.
    ///
    /// - Parameter report: gets what each exchange failed with, `nil` for one that did not; the next one comes all the same.
    package func run(report: @Sendable ((any Error)?) -> Void) async {
        while !Task.isCancelled {
            var pause = interval
            do {
                try await exchange()
                report(nil)
            } catch is CancellationError {
                return
            } catch {
                report(error)
                pause = min(interval, Self.retry)
            }
            do { try await Task.sleep(for: pause) } catch { return }
        }
    }

    /// Exchanges all tokens of the process once. At a start, this comes before the first request, so that a host begins with
    /// the token of the others.
    package func exchange() async throws {
        do {
            for tokens in registries.flatMap(\.sharedTokens) { try await exchange(tokens) }
            isAway.withLock { $0 = false }
        } catch {
            isAway.withLock { $0 = true }
            throw error
        }
    }

    /// Exchanges one token out of turn. Nothing is waited for while the store is known to be away, and no failure is told:
    /// the next turn tells it.
    package func exchangeNow(_ tokens: any SharedTokens) async {
        guard !isAway.withLock({ $0 }) else { return }
        do { try await exchange(tokens) } catch { isAway.withLock { $0 = true } }
    }

    private func exchange(_ tokens: any SharedTokens) async throws {
        // Who loses against another host looks once more, at what that has written.
        for _ in 0..<2 {
            let found = try await store.read(tokens.sharedName)
            guard let offer = try tokens.exchange(found?.note) else { return }
            if try await store.swap(tokens.sharedName, seen: found?.version ?? 0, offer) { return tokens.adopt(offer) }
        }
    }
}
