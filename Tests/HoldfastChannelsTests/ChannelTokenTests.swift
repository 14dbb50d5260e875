import Holdfast
import HoldfastChannels
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastTesting
import Testing

@testable import HoldfastAPNs

/// Keeps notes as a journal would.
private final class Notes: ProviderTokenStore {
    private let notes = Monitor<[String: [UInt8]]>([:])
    let kept = Monitor(0)

    func notes(_ name: String) async -> [[UInt8]] { notes.withLock { $0[name].map { [$0] } ?? [] } }

    func keep(_ note: [UInt8], as name: String) async {
        notes.withLock { $0[name] = note }
        kept.withLock { $0 += 1 }
    }
}

@Suite("The provider token of who manages channels")
struct ChannelTokenTests {
    private func run(
        _ configure: (inout MockAPNsConfiguration) -> Void = { _ in },
        _ body: (ChannelService) async throws -> Void
    ) async throws {
        try await ChannelService.run(
            { configuration in
                configuration.providerTokens = .verified
                configuration.providerTokenUpdateLimit = 1
                configure(&configuration)
            },
            { service async throws in
                var service = service
                service.configuration.signingKey = try service.signingKey()
                try await body(service)
            })
    }

    @Test("One is minted for all requests and connections")
    func once() async throws {
        try await run { service async throws in
            let manager = try service.manager()
            for _ in 0..<3 {
                _ = try await manager.create(storagePolicy: .noMessage)
                await manager.close()
            }
            #expect(service.mock.counters.connections == 3 && service.mock.channels.count == 3)
        }
    }

    @Test("It is the one that connectors of the same process use")
    func shared() async throws {
        try await run { service async throws in
            var configuration = service.configuration
            configuration.tokens = ProviderTokenRegistry(clock: .system)
            let signingKey = try #require(configuration.signingKey)
            let theirs = try configuration.tokens.source(for: signingKey).current()
            let manager = try ChannelManager(
                bundleID: "com.example.app", configuration, endpoint: service.endpoint)
            _ = try await manager.list()
            #expect(try configuration.tokens.source(for: signingKey).current() == theirs)
        }
    }

    @Test("A store takes it from one process to the next")
    func stored() async throws {
        try await run { service async throws in
            let notes = Notes()
            for _ in 0..<3 { _ = try await service.manager(store: notes).list() }
            #expect(notes.kept.withLock { $0 } == 1)
            // Without it, the next process mints its own, and the service takes no second one.
            let error = await channelError { _ = try await service.manager().list() }
            #expect(error?.reason == "TooManyProviderTokenUpdates" && error?.code == .unavailable)
        }
    }

    @Test("A note that is damaged does no harm")
    func damaged() async throws {
        try await run { service async throws in
            let notes = Notes()
            let key = try service.signingKey()
            let name = ProviderTokenSource(key).noteName
            await notes.keep(Array(repeating: 1, count: 300), as: name)
            #expect(try await service.manager(store: notes).list().isEmpty)
        }
    }

    @Test("One that the service calls expired is replaced once, and the next one kept")
    func expired() async throws {
        try await run {
            $0.providerTokenUpdateLimit = 2
            $0.script = [.request(.init(first: 1), MockAnswer(.rejected("ExpiredProviderToken")))]
        } _: { service async throws in
            let notes = Notes()
            let clock = ManualClock(wall: WallTime(milliseconds: EngineClock.system.wall().milliseconds))
            let manager = try service.manager(store: notes, clock: clock.engineClock)
            clock.advance(by: .seconds(1))
            _ = try await manager.create(storagePolicy: .noMessage)
            #expect(service.mock.counters.requests == 2 && service.mock.channels.count == 1)
            #expect(service.mock.counters.connections == 1 && notes.kept.withLock { $0 } == 2)
        }
    }

    @Test("When there were too many, none is made for twenty minutes")
    func tooMany() async throws {
        let clock = ManualClock(wall: WallTime(milliseconds: EngineClock.system.wall().milliseconds))
        try await run {
            $0.providerTokenUpdateLimit = 2
            $0.script = [
                .request(.init(first: 1), MockAnswer(.rejected("TooManyProviderTokenUpdates"))),
                .request(.init(first: 1), MockAnswer(.rejected("ExpiredProviderToken"))),
            ]
        } _: { service async throws in
            let manager = try service.manager(clock: clock.engineClock)
            #expect(await channelError { _ = try await manager.list() }?.code == .unavailable)
            clock.advance(by: .seconds(60))
            let held = try #require(await channelError { _ = try await manager.list() })
            #expect(held.code == .configuration && held.message.contains("20 minutes"), "\(held)")
            #expect(service.mock.counters.requests == 2)
        }
    }

    @Test("A fresh one that is called expired means that the clocks disagree")
    func clocks() async throws {
        try await run {
            $0.script = [.request(MockAnswer(.rejected("ExpiredProviderToken")))]
        } _: { service async throws in
            let error = try #require(await channelError { _ = try await service.manager().list() })
            #expect(error.code == .notAuthorized && error.message.contains("clock"))
            #expect(service.mock.counters.requests == 2)
        }
    }

    @Test("Neither the key nor a token stands in an error")
    func secrets() async throws {
        try await run {
            $0.script = [.request(MockAnswer(.rejected("InvalidProviderToken")))]
        } _: { service async throws in
            let error = try #require(await channelError { _ = try await service.manager().list() })
            #expect(!"\(error)".contains("bearer") && !"\(error)".contains("eyJ"))
        }
    }
}
