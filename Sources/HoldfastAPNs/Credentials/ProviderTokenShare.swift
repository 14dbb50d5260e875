internal import Holdfast
internal import HoldfastTransport

/// A place where hosts keep the provider tokens that they share, such as a database. A token is a secret for an hour.
package protocol SharedTokenStore: Sendable {
    /// - Returns: the note of this name and its version; nil for none.
    func read(_ name: String) async throws -> (note: [UInt8], version: Int64)?

    /// Writes a note if it is still of the version that was seen, 0 for none.
    ///
    /// - Returns: whether it was.
    func swap(_ name: String, seen: Int64, _ note: [UInt8]) async throws -> Bool
}

/// Has all hosts send with the same provider token of a signing key, which one of them mints for all.
///
/// Works beside the routes: a route's thread takes the token that there is, and waits for no store. Ten minutes before a route
/// would mint a token of its own, this writes another one into the store. Of hosts that do so at once one wins, and the others
/// take its token. While the store is away, every host mints as it would alone.
package final class ProviderTokenShare: Sendable {
    private let store: any SharedTokenStore
    private let registry: ProviderTokenRegistry
    private let interval: Duration

    package convenience init(_ store: any SharedTokenStore, interval: Duration = .seconds(60)) {
        self.init(store, registry: .shared, interval: interval)
    }

    init(_ store: any SharedTokenStore, registry: ProviderTokenRegistry, interval: Duration = .seconds(60)) {
        self.store = store
        self.registry = registry
        self.interval = interval
    }

    /// Exchanges the tokens of all keys of the process, until the task is cancelled.
    ///
    /// - Parameter report: gets what each exchange failed with, `nil` for one that did not; the next one comes all the same.
    package func run(report: @Sendable ((any Error)?) -> Void) async {
        while !Task.isCancelled {
            do {
                try await exchange()
                report(nil)
            } catch is CancellationError {
                return
            } catch {
                report(error)
            }
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    /// Exchanges the tokens of all keys of the process once. At a start, this comes before the first request, so that a host
    /// begins with the token of the others.
    package func exchange() async throws {
        for source in registry.all { try await exchange(source) }
    }

    private func exchange(_ source: ProviderTokenSource) async throws {
        // Who loses against another host looks once more, at what that has written.
        for _ in 0..<2 {
            let found = try await store.read(source.sharedName)
            guard let offer = try source.exchange(found?.note) else { return }
            if try await store.swap(source.sharedName, seen: found?.version ?? 0, offer.note(source.signingKey)) {
                return source.adopt(offer)
            }
        }
    }
}

extension ProviderTokenSource {
    /// The name under which hosts share the token. Another key of the same identifier has another one.
    var sharedName: String { "\(noteName)/\(Hex.string(signingKey.fingerprint.prefix(8)))" }
}
