import Foundation
import Holdfast
import HoldfastOpenSSL
import HoldfastRequests
import HoldfastTesting
import SessionRig
import Testing

@testable import HoldfastAPNs

/// Hosts that share one provider token.
@Suite("Provider tokens that hosts share") struct CredentialsShareTests {
    /// A host with the key.
    private struct Host {
        let source: ProviderTokenSource
        let share: TokenShare

        init(_ key: ES256PrivateKey, _ store: MemoryTokenStore, _ clock: ManualClock, interval: Duration = .seconds(60))
            throws
        {
            let registry = ProviderTokenRegistry(clock: clock.engineClock)
            source = registry.source(
                for: try APNsSigningKey(.bytes(key.pem()), keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
            share = TokenShare(store, of: [registry], interval: interval)
        }
    }

    private let clock = ManualClock()
    private let store = MemoryTokenStore()
    private let hosts: [Host]

    init() throws {
        let (key, store, clock) = (try ES256PrivateKey(), store, clock)
        hosts = try (0..<3).map { _ in try Host(key, store, clock) }
    }

    private var tokens: Set<ProviderTokenSource.Token> {
        get throws { Set(try hosts.map { try $0.source.current() }) }
    }

    @Test("All hosts send with one token, for hours, and a new one comes no sooner than every twenty minutes")
    func one() async throws {
        var all: [ProviderTokenSource.Token] = []
        for minute in 0..<240 {
            for host in hosts { try await host.share.exchange() }
            let now = try tokens
            #expect(now.count == 1, "minute \(minute)")
            if let token = now.first, token != all.last { all.append(token) }
            clock.advance(by: .seconds(60))
        }
        #expect((4...12).contains(all.count))
        #expect(store.state.withLock { $0.swaps } == all.count)
    }

    @Test("Of hosts that mint at once one wins, and the others use its token")
    func race() async throws {
        let (store, second) = (store, hosts[1])
        store.state.withLock { $0.afterRead = { try await second.share.exchange() } }
        try await hosts[0].share.exchange()
        #expect(store.state.withLock { $0.swaps } == 1)
        try await hosts[2].share.exchange()
        #expect(try tokens.count == 1)
    }

    @Test("Without the store each host mints for itself, and all have one again when it is back")
    func away() async throws {
        store.state.withLock { $0.isAway = true }
        for host in hosts {
            await #expect(throws: MemoryTokenStore.Away.self) { try await host.share.exchange() }
            clock.advance(by: .seconds(1))
            _ = try host.source.current()
        }
        #expect(try tokens.count == 3)
        store.state.withLock { $0.isAway = false }
        for _ in 0..<2 { for host in hosts { try await host.share.exchange() } }
        // The youngest of those that were minted.
        #expect(try tokens == [hosts[2].source.current()])
        #expect(try hosts[0].source.current().mintedAt == clock.wall)
    }

    @Test("That tokens are not exchanged is told while it is so, and no longer")
    func told() async throws {
        let host = try Host(try ES256PrivateKey(), store, clock, interval: .milliseconds(1))
        let (told, tell) = AsyncStream.makeStream(of: Bool.self)
        store.state.withLock { $0.isAway = true }
        let running = Task { await host.share.run { tell.yield($0 != nil) } }
        defer { running.cancel() }
        var failures = told.makeAsyncIterator()
        #expect(await failures.next() == true)
        store.state.withLock { $0.isAway = false }
        while let isFailure = await failures.next(), isFailure {}
        #expect(await failures.next() == false)
    }

    @Test("Whoever could not exchange tokens tries again within seconds, so that nobody is told of what is over")
    func triedAgain() async throws {
        let host = try Host(try ES256PrivateKey(), store, clock, interval: .seconds(3600))
        let (told, tell) = AsyncStream.makeStream(of: Bool.self)
        store.state.withLock { $0.isAway = true }
        let running = Task { await host.share.run { tell.yield($0 != nil) } }
        defer { running.cancel() }
        var failures = told.makeAsyncIterator()
        #expect(await failures.next() == true)
        store.state.withLock { $0.isAway = false }
        #expect(await failures.next() == false)
    }

    @Test("A token that is no token of the key, or too old, or from the future, is not used")
    func notUsed() async throws {
        let name = hosts[0].source.sharedName
        try await hosts[0].share.exchange()
        let good = try #require(store.state.withLock { $0.notes[name] }).note
        for note in [[], Array(good.dropLast()), good + [0], Array(good.reversed())] {
            store.state.withLock { $0.notes[name] = (note, 9) }
            try await hosts[1].share.exchange()
            #expect(store.state.withLock { $0.notes[name]?.note } != note)
        }
        let before = try hosts[1].source.current()
        let ahead = ManualClock()
        ahead.advance(by: .seconds(3600))
        let other = ProviderTokenSource(hosts[0].source.signingKey, clock: ahead.engineClock)
        let future = try other.current().note(other.signingKey)
        store.state.withLock { $0.notes[name] = (future, 10) }
        try await hosts[1].share.exchange()
        #expect(try hosts[1].source.current() == before)
    }

    @Test("A token that a host replaced, since the service called it expired, becomes that of all")
    func replaced() async throws {
        for host in hosts { try await host.share.exchange() }
        let first = try hosts[1].source.current()
        clock.advance(by: .seconds(60))
        let second = try #require(try hosts[1].source.replace(first))
        for host in [hosts[1], hosts[0], hosts[2]] { try await host.share.exchange() }
        #expect(try tokens == [second])
    }
}
