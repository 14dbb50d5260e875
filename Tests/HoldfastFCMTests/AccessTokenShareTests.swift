import HoldfastRequests
import HoldfastTesting
import SessionRig
import Testing

@testable import Holdfast
@testable import HoldfastFCM

/// Hosts that share one access token.
@Suite("Access tokens that hosts share", .timeLimit(.minutes(1))) struct AccessTokenShareTests {
    /// Google's endpoint, for all hosts.
    private final class Endpoint: AccessTokenFetcher {
        let fetches = Monitor(0)

        func fetch(at now: WallTime) async throws(FetchError) -> (text: String, lifetime: Duration) {
            let number = fetches.withLock { number in
                number += 1
                return number
            }
            return ("token-\(number)", .seconds(3599))
        }
    }

    private struct Host {
        let registry: AccessTokenRegistry
        let source: AccessTokenSource
        let share: TokenShare

        init(_ endpoint: Endpoint, _ store: MemoryTokenStore, _ clock: ManualClock, isShared: Bool = true) {
            registry = AccessTokenRegistry(clock: clock.engineClock)
            source = registry.source(
                name: "sender", fingerprint: [UInt8](repeating: 7, count: 32), isShared: isShared, fetcher: endpoint)
            share = TokenShare(store, of: [registry])
        }

        /// Until what a look has begun is over.
        func look() async -> Bool {
            source.look()
            return await Patience(.seconds(10)).wait { !source.state.withLock(\.machine.isFetching) }
        }
    }

    private let clock = ManualClock()
    private let store = MemoryTokenStore()
    private let endpoint = Endpoint()
    private let hosts: [Host]

    init() {
        let (endpoint, store, clock) = (endpoint, store, clock)
        hosts = (0..<3).map { _ in Host(endpoint, store, clock) }
    }

    private var fetches: Int { endpoint.fetches.withLock { $0 } }

    /// Until what was fetched is offered.
    private func offered(_ count: Int) async -> Bool {
        await Patience(.seconds(10)).wait { store.state.withLock(\.swaps) == count }
    }

    @Test("A host that starts uses the token of the others, and fetches none") func start() async throws {
        #expect(try await hosts[0].source.token().text == "token-1")
        #expect(await offered(1))
        for host in hosts { #expect(try await host.source.token().text == "token-1") }
        #expect(fetches == 1)
    }

    @Test("One host renews it for all, and all have it within a minute, for hours") func renewed() async throws {
        _ = try await hosts[0].source.token()
        #expect(await offered(1))
        var texts: [String] = []
        for minute in 0..<240 {
            for host in hosts {
                try await host.share.exchange()
                #expect(await host.look())
                // What this one has fetched is offered before the next one looks.
                #expect(await offered(fetches))
            }
            for host in hosts { try await host.share.exchange() }
            let now = Set(try hosts.map { try $0.source.current().text })
            #expect(now.count == 1, "minute \(minute)")
            if let text = now.first, text != texts.last { texts.append(text) }
            clock.advance(by: .seconds(60))
        }
        #expect(texts.count == fetches)
        // 240 minutes, each token for 42 to 49 of them.
        #expect((5...6).contains(fetches), "\(fetches)")
    }

    @Test("A refused token is replaced by one host, and no host takes it again") func refused() async throws {
        for host in hosts { _ = try await host.source.token() }
        #expect(await offered(1))
        for host in hosts { try await host.share.exchange() }
        let first = try hosts[0].source.current()
        #expect(hosts[1].source.refused(first) == .replaced)
        // Told that it is refused, and then the other one.
        #expect(await offered(3))
        #expect(hosts[0].source.refused(first) == .replaced)
        // Nobody has told this one of it but the others.
        try await hosts[2].share.exchange()
        for host in hosts { #expect(try await host.source.token().text == "token-2") }
        let late = Host(endpoint, store, clock)
        #expect(try await late.source.token().text == "token-2")
        #expect(fetches == 2)
    }

    @Test("While a refused one has no successor, a host that starts does not take it") func refusedWithoutSuccessor()
        async throws
    {
        _ = try await hosts[0].source.token()
        #expect(await offered(1))
        _ = hosts[0].source.state.withLock { state in state.machine.refused(state.machine.token!) }
        try await hosts[0].share.exchange()
        #expect(try await hosts[1].source.token().text == "token-2")
    }

    @Test("Without the store each host fetches for itself, and waits for it once; all have one again when it is back")
    func away() async throws {
        store.state.withLock { $0.isAway = true }
        for host in hosts {
            _ = try await host.source.token()
            clock.advance(by: .seconds(1))
        }
        #expect(fetches == 3)
        let reads = store.state.withLock(\.reads)
        _ = hosts[0].source.refused(try hosts[0].source.current())
        #expect(await Patience(.seconds(10)).wait { fetches == 4 })
        #expect(await hosts[0].look())
        #expect(store.state.withLock(\.reads) == reads)
        store.state.withLock { $0.isAway = false }
        for _ in 0..<2 { for host in hosts { try await host.share.exchange() } }
        #expect(Set(try hosts.map { try $0.source.current().text }) == ["token-4"])
    }

    @Test("Tokens of a command are not shared, and a share that is gone is not asked") func alone() async throws {
        let host = Host(endpoint, store, clock, isShared: false)
        _ = try await host.source.token()
        try await host.share.exchange()
        let registry = AccessTokenRegistry(clock: clock.engineClock)
        do { _ = TokenShare(store, of: [registry]) }
        let source = registry.source(
            name: "sender", fingerprint: [UInt8](repeating: 7, count: 32), isShared: true, fetcher: endpoint)
        _ = try await source.token()
        #expect(fetches == 2 && store.state.withLock(\.reads) == 0)
    }
}
