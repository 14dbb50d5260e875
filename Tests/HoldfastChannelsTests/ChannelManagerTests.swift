import Holdfast
import HoldfastAPNs
import HoldfastChannels
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@Suite("Managing channels")
struct ChannelManagerTests {
    @Test("A channel is created, read, listed and deleted, over one connection")
    func life() async throws {
        try await ChannelService.run { service async throws in
            let manager = try service.manager()
            let stored = try await manager.create(storagePolicy: .mostRecentMessage)
            let unstored = try await manager.create(storagePolicy: .noMessage)
            #expect(Set(service.mock.channels.map(\.id)) == [stored.id, unstored.id])
            #expect(try await manager.read(stored).storagePolicy == .mostRecentMessage)
            let facts = ChannelConfiguration(storagePolicy: .noMessage, pushType: "LiveActivity")
            #expect(try await manager.read(unstored) == facts)
            #expect(try await Set(manager.list()) == [stored, unstored])
            try await manager.delete(stored)
            #expect(try await manager.list() == [unstored])
            let error = try #require(await channelError { _ = try await manager.read(stored) })
            #expect(error.code == .notRegistered && error.status == 400 && error.reason == "ChannelNotRegistered")
            #expect(error.message.contains(stored.id) && error.message.contains("apart"))
            #expect(service.mock.counters.connections == 1)
        }
    }

    @Test("Requests that are made at once go one after the other over one connection")
    func together() async throws {
        try await ChannelService.run { service async throws in
            let manager = try service.manager()
            let created = try await withThrowingTaskGroup(of: BroadcastChannel.self) { group in
                for _ in 0..<20 { group.addTask { try await manager.create(storagePolicy: .noMessage) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(try await created == Set(manager.list()) && created.count == 20)
            #expect(service.mock.counters.connections == 1)
        }
    }

    @Test("Behind close() the connection is closed, and the next request opens another")
    func closing() async throws {
        try await ChannelService.run { service async throws in
            let manager = try service.manager()
            _ = try await manager.list()
            await manager.close()
            try await eventually("it is closed") { service.mock.counters.openConnections == 0 }
            _ = try await manager.list()
            #expect(service.mock.counters.connections == 2)
        }
    }

    @Test("A connection that the service takes nothing more on is followed by another")
    func goAway() async throws {
        try await ChannelService.run { service async throws in
            let manager = try service.manager()
            _ = try await manager.list()
            service.mock.goAway(MockGoAway(reason: "Shutdown"))
            try await eventually("it is closed") { service.mock.counters.openConnections == 0 }
            _ = try await manager.create(storagePolicy: .noMessage)
            #expect(service.mock.counters.connections == 2 && service.mock.channels.count == 1)
        }
    }

    @Test("A manager that is let go of closes its connection")
    func lettingGo() async throws {
        try await ChannelService.run { service async throws in
            var manager: ChannelManager? = try service.manager()
            _ = try await manager?.list()
            manager = nil
            try await eventually("it is closed") { service.mock.counters.openConnections == 0 }
        }
    }

    @Test("Ten thousand channels are listed")
    func many() async throws {
        try await ChannelService.run {
            $0.channels = (0..<10_000).map { number in
                let digits = String(10_000_000 + number)
                return MockChannel(bundleID: ChannelService.bundleID, id: "YWJj" + digits)
            }
        } _: { service async throws in
            let manager = try service.manager()
            #expect(try await manager.list().map(\.id) == service.mock.channels.map(\.id))
            let error = await channelError { _ = try await manager.create(storagePolicy: .noMessage) }
            #expect(error?.code == .tooManyChannels && error?.reason == "CannotCreateChannelConfig")
        }
    }

    @Test("A client certificate does in place of a signing key")
    func certificate() async throws {
        try await ChannelService.run {
            $0.requiresClientCertificate = true
        } _: { service async throws in
            var service = service
            let folder = service.mock.certificateDirectory
            service.configuration.clientCertificate = .pem(
                certificates: .file("\(folder)/client.pem"), key: .file("\(folder)/client.key"))
            #expect(try await service.manager().list().isEmpty)
        }
    }

    @Test("It speaks in the clear to this machine")
    func cleartext() async throws {
        try await ChannelService.run {
            $0.isCleartext = true
        } _: { service async throws in
            let address = try #require(service.mock.managementAddress)
            let manager = try ChannelManager(
                bundleID: "com.example.app", service.configuration, endpoint: APNsEndpoint("http://\(address)"))
            #expect(try await manager.list().isEmpty)
        }
    }

    @Test("Where channels are managed follows from where is sent")
    func endpoints() throws {
        for (text, expected) in [
            ("production", "https://api-manage-broadcast.push.apple.com:2196"),
            ("production:2197", "https://api-manage-broadcast.push.apple.com:2196"),
            ("sandbox", "https://api-manage-broadcast.sandbox.push.apple.com:2195"),
        ] {
            let configuration = APNsConnector.Configuration(endpoint: try APNsEndpoint(text))
            let manager = try ChannelManager(bundleID: "com.example.app", configuration)
            #expect(manager.endpoint.description == expected)
        }
        let custom = APNsConnector.Configuration(endpoint: try APNsEndpoint("https://push.example.com"))
        let error = #expect(throws: APNsConfigurationError.self) {
            try ChannelManager(bundleID: "com.example.app", custom)
        }
        #expect(error?.message.contains("https://push.example.com:443") == true)
    }

    @Test("A bundle id that is none is named", arguments: ["", "com.example/app", "com.example app", "com.exämple"])
    func bundleIDs(_ bundleID: String) throws {
        let configuration = APNsConnector.Configuration(endpoint: .sandbox)
        #expect(throws: APNsConfigurationError.self) { try ChannelManager(bundleID: bundleID, configuration) }
    }

    /// Waits for a condition, ten seconds at most.
    private func eventually(_ what: Comment, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while !condition() {
            try #require(ContinuousClock.now < deadline, what)
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
