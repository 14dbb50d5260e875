import Foundation
import HoldfastAPNs
import HoldfastAPNsAnswers
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastOpenSSL
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// The engine with the real connector, over TLS and HTTP/2, to the mock.
@Suite(.timeLimit(.minutes(2))) struct DeliveryTests {
    /// A mock, an engine on an in-memory journal, and what came of it.
    private struct Result {
        let status: EngineStatus
        let rest: EngineRest
        let journal: InMemoryJournal
        let accepted: [String]
        let counters: MockCounters
    }

    private func untilTaken(_ count: Int, by mock: MockAPNsServer) async throws {
        while mock.counters.requests < count { try await Task.sleep(for: .milliseconds(1)) }
    }

    private func deliver(
        _ notifications: [PushNotification], mock change: (inout MockAPNsConfiguration) -> Void = { _ in },
        connector changeConnector: (inout APNsConnector.Configuration) -> Void = { _ in },
        during action: @escaping @Sendable (MockAPNsServer) async throws -> Void = { _ in }
    ) async throws -> Result {
        let ids = Monitor<[String]>([])
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.observer = { exchanges in
            ids.withLock { $0 += exchanges.filter(\.isAccepted).map(\.id) }
        }
        change(&mockConfiguration)
        let mock = try await MockAPNsServer.start(mockConfiguration)
        var configuration = APNsConnector.Configuration(
            endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"), trust: .file(mock.certificateAuthorityFile))
        configuration.signingKey = try APNsSigningKey(
            file: mock.providerKeyFile, keyID: mockConfiguration.keyID, teamID: mockConfiguration.teamID)
        changeConnector(&configuration)
        var engineConfiguration = EngineConfiguration()
        engineConfiguration.retry = RetrySchedule(minimum: .milliseconds(5), maximum: .milliseconds(20))
        engineConfiguration.reconnectMinimum = .milliseconds(5)
        engineConfiguration.reconnectMaximum = .milliseconds(50)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: try APNsConnector(configuration))],
            configuration: engineConfiguration, logger: logger)
        for receipt in await engine.producer.submit(notifications) { _ = try receipt.get() }
        let rest = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            try await action(mock)
            let rest = await engine.untilIdle()
            group.cancelAll()
            return rest
        }
        let counters = mock.counters
        try await mock.stop()
        return Result(
            status: engine.status(), rest: rest, journal: journal, accepted: ids.withLock { $0 }, counters: counters)
    }

    private static func notification(_ number: Int, guarantee: Guarantee = .atLeastOnce) -> PushNotification {
        var bytes = [UInt8](repeating: 0x5A, count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return PushNotification(
            token: DeviceToken(bytes: bytes)!, topic: "com.example.app",
            payload: Array(#"{"aps":{"alert":"number \#(number)"}}"#.utf8), pushType: .alert,
            expiration: nil, collapseID: number.isMultiple(of: 3) ? "c\(number)" : nil, guarantee: guarantee)
    }

    private func notifications(_ count: Int, guarantee: Guarantee = .atLeastOnce) -> [PushNotification] {
        (0..<count).map { Self.notification($0, guarantee: guarantee) }
    }

    @Test("Thousands of notifications arrive once each, over TLS, with a verified provider token") func delivers()
        async throws
    {
        let result = try await deliver(notifications(5000), mock: { $0.providerTokens = .verified })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 5000)
        #expect(Set(result.accepted).count == 5000)
        #expect(result.accepted.count == 5000)
        #expect(result.counters.connections == 1)
    }

    @Test("Payloads of the greatest size pass through flow control") func largePayloads() async throws {
        var large = notifications(300)
        for index in large.indices {
            large[index].payload = Array("{\"a\":\"\(String(repeating: "x", count: 4088))\"}".utf8)
        }
        let result = try await deliver(large)
        #expect(result.status.confirmed == 300)
        #expect(Set(result.accepted).count == 300)
    }

    @Test("A stream limit of one is kept to, and everything arrives") func oneStream() async throws {
        let result = try await deliver(notifications(50), mock: { $0.maxConcurrentStreams = 1 })
        #expect(result.status.confirmed == 50)
        #expect(result.counters.reset == 0)
    }

    @Test("A refused token is rejected with its reason and exact timestamp, blacklisted, and its neighbours arrive")
    func gone() async throws {
        let bad = Self.notification(7)
        let result = try await deliver(
            notifications(20),
            mock: { $0.rejections = [bad.recipient.text: MockRejection("Unregistered", timestamp: 1_700_000_000_123)] })
        #expect(result.status.confirmed == 19)
        let cause = try #require(result.journal.rejections[UID(8)])
        #expect(cause.reason == .unregistered)
        #expect(cause.status == 410)
        #expect(cause.timestamp == WallTime(milliseconds: 1_700_000_000_123))
        #expect(try TokenBlacklist(storage: result.journal.blacklist).isBlacklisted(bad.token!) != nil)
    }

    @Test("Broadcasts and notifications for devices go over one connection, each judged by its own rules")
    func broadcasts() async throws {
        let stored = MockChannel(bundleID: "com.example.app", id: "c3RvcmVk", storage: .latest)
        let fleeting = MockChannel(bundleID: "com.example.app", id: "ZmxlZXRpbmc=", storage: .none)
        func broadcast(_ channel: String, expiration: Expiration? = nil) throws -> PushNotification {
            PushNotification(
                channel: try BroadcastChannel(channel), topic: "com.example.app",
                payload: Array(#"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#.utf8),
                priority: .considerate, expiration: expiration)
        }
        let late = Expiration.at(4_000_000_000)
        var all = notifications(50)
        for number in 0..<50 {
            all.insert(try broadcast(number.isMultiple(of: 2) ? stored.id : fleeting.id), at: 2 * number)
        }
        all += [
            try broadcast(stored.id, expiration: late), try broadcast(fleeting.id, expiration: late),
            try broadcast("Z29uZQ=="), try broadcast(stored.id),
        ]
        let seen = Monitor<[MockExchange]>([])
        let result = try await deliver(
            all,
            mock: { mock in
                mock.channels = [stored, fleeting]
                mock.providerTokens = .verified
                let observer = mock.observer
                mock.observer = { exchanges in
                    observer?(exchanges)
                    seen.withLock { $0 += exchanges }
                }
            })
        #expect(result.status.confirmed == 102)
        #expect(
            result.journal.rejections.mapValues(\.reason) == [
                UID(102): .badExpirationDate, UID(103): .channelNotRegistered,
            ])
        #expect(result.journal.blacklist.count == 0)
        #expect(Set(seen.withLock { $0 }.map(\.request.connection)).count == 1)
    }

    @Test("An error body in many DATA frames is read whole") func splitBodies() async throws {
        let bad = Self.notification(1)
        let result = try await deliver(
            notifications(3),
            mock: {
                $0.behavior = MockBehavior.splittingBodies(every: 1).orElse(
                    MockBehavior { _ in nil })
                $0.rejections = [bad.recipient.text: "BadDeviceToken"]
            })
        #expect(result.journal.rejections[UID(2)]?.reason == .badDeviceToken)
        #expect(result.status.confirmed == 2)
    }

    @Test("The first provider token is called expired: another is made, and everything is confirmed")
    func expiredToken() async throws {
        let first = Monitor<String?>(nil)
        let result = try await deliver(
            notifications(500),
            mock: {
                $0.behavior = MockBehavior { request in
                    let token = request["authorization"]
                    let isFirst = first.withLock { first in
                        first = first ?? token
                        return first == token
                    }
                    return isFirst ? MockAnswer(.rejected("ExpiredProviderToken")) : nil
                }
            })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 500)
        #expect(result.status.possibleDuplicates == 0)
    }

    @Test("Two expired provider tokens in a row are the clock's fault: the lane stops and says so, and nothing is lost")
    func clockSkew() async throws {
        let result = try await deliver(
            notifications(10),
            mock: { $0.behavior = MockBehavior { _ in MockAnswer(.rejected("ExpiredProviderToken")) } })
        guard case .stopped(let why) = result.rest else {
            Issue.record("expected a stopped lane")
            return
        }
        #expect(why.contains("ExpiredProviderToken"))
        // What was tried in vain waits behind the others.
        #expect(try result.journal.status().unconfirmed == 10)
    }

    @Test("GOAWAY loses nothing, and what it says was never processed is sent once") func goAway() async throws {
        let result = try await deliver(
            notifications(3000),
            mock: { $0.behavior = .closing(after: 500, ending: .goAwayAndClose(MockGoAway())) })
        #expect(result.rest == .drained)
        #expect(Set(result.accepted).count == 3000)
        #expect(result.counters.connections > 1)
        #expect(result.accepted.count - 3000 <= result.status.possibleDuplicates)
    }

    @Test("A connection that closes without a word loses nothing; what may have arrived is counted") func closes()
        async throws
    {
        let result = try await deliver(notifications(3000), mock: { $0.behavior = .closing(after: 700) })
        #expect(result.rest == .drained)
        #expect(Set(result.accepted).count == 3000)
        #expect(result.accepted.count - 3000 <= result.status.possibleDuplicates)
    }

    @Test("At most once, a connection that closes without a word sends nothing twice") func atMostOnce() async throws {
        let result = try await deliver(
            notifications(3000, guarantee: .atMostOnce), mock: { $0.behavior = .closing(after: 700) })
        #expect(result.rest == .drained)
        #expect(Set(result.accepted).count == result.accepted.count)
        #expect(result.status.confirmed + result.status.unknown == 3000)
        #expect(result.status.possibleDuplicates == 0)
    }

    @Test("Refused streams were never processed: they go again, and are no duplicates") func refused() async throws {
        let result = try await deliver(
            notifications(500, guarantee: .atMostOnce), mock: { $0.behavior = .refusing(first: 100) })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 500)
        #expect(result.status.possibleDuplicates == 0)
        #expect(result.accepted.count == 500)
    }

    @Test("A request that is never answered is unknown at its deadline, and its neighbours are not held up")
    func neverAnswered() async throws {
        let silent = Self.notification(3)
        let result = try await deliver(
            notifications(10, guarantee: .atMostOnce),
            mock: { $0.behavior = MockBehavior { $0.token == silent.recipient.text ? MockAnswer(.silence) : nil } },
            connector: { $0.sendDeadline = .seconds(3) })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 9)
        #expect(result.status.unknown == 1)
    }

    @Test("A service that stalls is given up at the deadline, and what it held goes again, counted") func stalls()
        async throws
    {
        let result = try await deliver(
            notifications(20), mock: { $0.behavior = .stalling },
            connector: {
                $0.sendDeadline = .seconds(1)
                // With provider tokens one stream at a time would be open until the service has answered.
                $0.signingKey = nil
            },
            during: { mock in
                try await untilTaken(20, by: mock)
                mock.setBehavior(nil)
            })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 20)
        // More where the machine is so slow that the deadline comes a second time.
        #expect(result.status.possibleDuplicates >= 20)
    }

    @Test("A service that allows no streams any more is left, and what waited goes over another connection")
    func noStreams() async throws {
        let result = try await deliver(
            notifications(30),
            mock: {
                $0.delay = .milliseconds(300)
                $0.maxConcurrentStreams = 10
            },
            connector: { $0.sendDeadline = .seconds(2) },
            during: { mock in
                try await untilTaken(10, by: mock)
                mock.setMaxConcurrentStreams(0)
            })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 30)
        #expect(result.status.possibleDuplicates == 0)
        #expect(result.counters.connections == 2)
    }

    @Test("The stream limit falls to one and to none and comes back: nothing is lost, and nothing is sent twice")
    func changingLimit() async throws {
        let result = try await deliver(
            notifications(400, guarantee: .atMostOnce),
            mock: {
                $0.delay = .milliseconds(5)
                $0.maxConcurrentStreams = 50
            },
            during: { mock in
                try await untilTaken(50, by: mock)
                mock.setMaxConcurrentStreams(1)
                try await untilTaken(110, by: mock)
                mock.setMaxConcurrentStreams(0)
                mock.setMaxConcurrentStreams(50)
            })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 400)
        #expect(result.accepted.count == 400)
        #expect(result.status.possibleDuplicates == 0)
        #expect(result.counters.connections == 1)
    }

    @Test("An untrusted certificate is named as such, nothing is lost, and the lanes keep their entries")
    func untrusted() async throws {
        let other = try await MockAPNsServer.start(MockAPNsConfiguration())
        let mock = try await MockAPNsServer.start(MockAPNsConfiguration())
        let trusted = other.certificateAuthorityFile
        let connector = try APNsConnector(
            APNsConnector.Configuration(
                endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"), trust: .file(trusted)))
        let error = await #expect(throws: ConnectError.self) {
            _ = try await connector.connect(ConnectionSink { _ in })
        }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains(trusted) == true)
        try await mock.stop()
        try await other.stop()
    }

    @Test("A certificate for another name is named as such") func wrongName() async throws {
        var configuration = MockAPNsConfiguration()
        configuration.names = ["push.example"]
        // Means 127.0.0.1 to the system, without a look into /etc/hosts, and a name to a certificate.
        configuration.host = "0x7f.1"
        let mock = try await MockAPNsServer.start(configuration)
        let connector = try APNsConnector(
            APNsConnector.Configuration(
                endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"),
                trust: .file(mock.certificateAuthorityFile)))
        let error = await #expect(throws: ConnectError.self) {
            _ = try await connector.connect(ConnectionSink { _ in })
        }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains("host name") == true)
        try await mock.stop()
    }

    @Test("A connection that has ended is freed, with all its buffers") func freed() async throws {
        let mock = try await MockAPNsServer.start(MockAPNsConfiguration())
        let connector = try APNsConnector(
            APNsConnector.Configuration(
                endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"),
                trust: .file(mock.certificateAuthorityFile)))
        weak var connection: (any Connection)?
        let ended = Monitor(false)
        func live() async throws {
            let strong = try await connector.connect(
                ConnectionSink { event in if case .ended = event { ended.withLock { $0 = true } } })
            connection = strong
            strong.close(deadline: .zero)
        }
        try await live()
        let deadline = ContinuousClock.now + .seconds(10)
        while connection != nil || !ended.withLock({ $0 }), ContinuousClock.now < deadline { await Task.yield() }
        #expect(ended.withLock { $0 })
        #expect(connection == nil)
        try await mock.stop()
    }

    @Test("Nobody listens: the error says where, and is temporary") func nobody() async throws {
        let mock = try await MockAPNsServer.start(MockAPNsConfiguration())
        let port = mock.port
        let connector = try APNsConnector(
            APNsConnector.Configuration(
                endpoint: try APNsEndpoint("https://127.0.0.1:\(port)"), trust: .file(mock.certificateAuthorityFile)))
        try await mock.stop()
        let error = await #expect(throws: ConnectError.self) {
            _ = try await connector.connect(ConnectionSink { _ in })
        }
        #expect(error?.kind == .temporary)
        #expect(error?.message.contains("127.0.0.1:\(port)") == true)
    }
}
