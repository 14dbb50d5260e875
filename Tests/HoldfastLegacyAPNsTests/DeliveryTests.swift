import Foundation
import HoldfastAPNsAnswers
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast
@testable import HoldfastLegacyAPNs

/// The engine with the real connector, over TLS, to the mock.
///
/// `submit` refuses a token that does not have 32 bytes, so a notification that the service finds bad is one whose token it
/// refuses with status 8, or with 2 and 5 as if it had none.
@Suite("Delivery over the binary protocol", .timeLimit(.minutes(2))) struct DeliveryTests {
    /// What came of it.
    private struct Result {
        let status: EngineStatus
        let rest: EngineRest
        let journal: InMemoryJournal
        /// Payloads that the service took, in order.
        let taken: [[UInt8]]
        let counters: MockBinaryCounters

        /// Each of these was taken once, and nothing else was.
        func tookOnce(_ notifications: some Sequence<PushNotification>) -> Bool {
            let wanted = notifications.map(\.payload)
            return taken.count == wanted.count && Set(taken) == Set(wanted)
        }
    }

    private func deliver(
        _ notifications: [PushNotification], connections: Int = 1,
        mock changeMock: (inout MockBinaryConfiguration) -> Void,
        connector changeConnector: (inout LegacyAPNsConnector.Configuration) -> Void = { _ in },
        engine changeEngine: (inout EngineConfiguration) -> Void = { _ in },
        until isDone: (@Sendable (PushEngine) async -> EngineRest)? = nil
    ) async throws -> Result {
        let taken = Monitor<[[UInt8]]>([])
        var configuration = MockBinaryConfiguration()
        configuration.observer = { exchanges in
            taken.withLock { $0 += exchanges.filter(\.isTaken).map(\.notification.payload) }
        }
        changeMock(&configuration)
        let mock = try await MockBinaryServer.start(configuration)
        let service = MockedService(mock: mock, isCleartext: false)
        var engineConfiguration = EngineConfiguration()
        engineConfiguration.retry = RetrySchedule(minimum: .milliseconds(5), maximum: .milliseconds(20))
        engineConfiguration.reconnectMinimum = .milliseconds(5)
        engineConfiguration.reconnectMaximum = .milliseconds(50)
        engineConfiguration.barrierIdle = .milliseconds(100)
        changeEngine(&engineConfiguration)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let journal = InMemoryJournal()
        let route = Route(connector: try service.connector(changeConnector), connections: connections)
        let engine = try PushEngine(
            journal: journal, routes: [route], configuration: engineConfiguration, logger: logger)
        for receipt in await engine.producer.submit(notifications) { _ = try receipt.get() }
        let rest = await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            let rest = if let isDone { await isDone(engine) } else { await engine.untilIdle() }
            group.cancelAll()
            return rest
        }
        let counters = mock.counters
        try await mock.stop(within: .zero)
        return Result(
            status: engine.status(), rest: rest, journal: journal, taken: taken.withLock { $0 }, counters: counters)
    }

    private func notifications(_ count: Int) -> [PushNotification] {
        (1...count).map { number in
            var notification = SampleNotification.numbered(number)
            notification.id = nil
            return notification
        }
    }

    @Test(
        "1000 notifications, number 500 bad: exactly 999 are taken, each once", arguments: [1, 4],
        [.invalidToken, .missingToken, .invalidTokenSize] as [MockBinaryStatus])
    func oneBad(connections: Int, status: MockBinaryStatus) async throws {
        let all = notifications(1000)
        let bad = all[499]
        let result = try await deliver(
            all, connections: connections, mock: { $0.rejections = [bad.recipient.text: status] })
        #expect(result.rest == .drained)
        #expect(result.status.confirmed == 999)
        #expect(result.status.rejectedTotal == 1)
        #expect(result.status.possibleDuplicates == 0)
        #expect(result.tookOnce(all.filter { $0 != bad }))
        #expect(result.journal.rejections[UID(500)] != nil)
        #expect(try TokenBlacklist(storage: result.journal.blacklist).isBlacklisted(bad.token!) != nil)
    }

    @Test("Four sent, error 8 for the second: one confirmed, one rejected, the others go again in order")
    func fourSent() async throws {
        let all = notifications(4)
        let result = try await deliver(all, mock: { $0.rejections = [all[1].recipient.text: .invalidToken] })
        #expect(result.taken == [all[0], all[2], all[3]].map(\.payload))
        #expect(result.status.confirmed == 3)
        #expect(result.status.rejected == [.invalidToken: 1])
        #expect(result.status.requeued == 2)
        #expect(result.status.deferrals == 0)
    }

    @Test("A bad payload is rejected, and its token stays as good as it was") func badPayload() async throws {
        let all = notifications(3)
        let result = try await deliver(all, mock: { $0.rejections = [all[1].recipient.text: .invalidPayloadSize] })
        #expect(result.status.rejected == [.invalidPayloadSize: 1])
        #expect(result.status.confirmed == 2)
        #expect(try TokenBlacklist(storage: result.journal.blacklist).isBlacklisted(all[1].token!) == nil)
    }

    @Test(
        "A passing status is tried again without burning bystanders",
        arguments: [1, 128, 255, 99] as [MockBinaryStatus])
    func temporary(status: MockBinaryStatus) async throws {
        let all = notifications(20)
        let token = all[9].recipient.address
        let behavior = MockBinaryBehavior { one in
            one.token == token ? MockBinaryAnswer(.refused(status)) : nil
        }.atMost(2)
        let result = try await deliver(all, mock: { $0.behavior = behavior })
        #expect(result.status.confirmed == 20)
        #expect(result.status.deferrals == 2)
        #expect(result.tookOnce(all))
    }

    @Test("Status 10 fails nobody: what is behind the last good one goes again, once") func shutdown() async throws {
        let all = notifications(100)
        let behavior = MockBinaryBehavior.shuttingDown(after: 30)
        let result = try await deliver(all, mock: { $0.behavior = behavior })
        #expect(result.status.confirmed == 100)
        #expect(result.tookOnce(all))
        #expect(result.counters.connections >= 4)
    }

    @Test("A barrier answered with identifier 0: what is before it is neither rejected nor sent again")
    func barrierZero() async throws {
        let all = notifications(50)
        let behavior = MockBinaryBehavior.barriers(
            MockBinaryAnswer(.refused(.missingToken), identifier: .value(0)))
        let result = try await deliver(all, mock: { $0.behavior = behavior })
        #expect(result.status.confirmedByBarrier == 50)
        #expect(result.status.rejectedTotal == 0)
        #expect(result.tookOnce(all))
    }

    @Test("Identifiers across the 32-bit wrap: everything arrives once, errors and barriers included")
    func wrap() async throws {
        let all = notifications(1000)
        let bad = [all[300], all[600], all[700]]
        let result = try await deliver(
            all,
            mock: { $0.rejections = Dictionary(uniqueKeysWithValues: bad.map { ($0.recipient.text, .invalidToken) }) },
            connector: { $0.firstIdentifier = .max - 250 })
        #expect(result.status.confirmed == 997)
        #expect(result.tookOnce(all.filter { !bad.contains($0) }))
    }

    @Test("A server that never answers, shutdown limit 1 s: it closes anyway, and the unanswered stay in the journal")
    func neverAnswers() async throws {
        let all = notifications(10)
        let start = ContinuousClock.now
        let result = try await deliver(
            all, mock: { $0.behavior = .stalling }, engine: { $0.shutdownLimit = .seconds(1) },
            until: { engine in
                while engine.status().handedOut < 10 { await Task.yield() }
                return .drained
            })
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(result.status.confirmed == 0)
        #expect(result.status.settled == 0)
        #expect(result.status.unconfirmed == 10)
    }

    /// The first error comes 1.5 s late; the quiet period is 300 ms.
    private static func lateError(_ token: DeviceToken) -> MockBinaryBehavior {
        MockBinaryBehavior { one in
            one.token == token.bytes ? MockBinaryAnswer(.refused(.invalidToken), delay: .milliseconds(1500)) : nil
        }
    }

    @Test("What a late error denies goes again, though silence had confirmed it; a barrier is not fooled at all")
    func lateError() async throws {
        let all = notifications(10)
        let bad = all[3]
        let quiet = try await deliver(
            all, mock: { $0.behavior = Self.lateError(bad.token!) },
            connector: { $0.confirmation = .quiet(.milliseconds(300)) },
            until: { engine in
                let deadline = ContinuousClock.now + .seconds(20)
                while engine.status().recalled == 0, ContinuousClock.now < deadline { await Task.yield() }
                return await engine.untilIdle()
            })
        // Silence was taken for success: the bad one and the six behind it come back, and the six arrive.
        #expect(quiet.status.recalled == 7)
        #expect(quiet.status.wronglyConfirmed == 0)
        #expect(quiet.status.rejectedTotal == 1)
        #expect(quiet.status.confirmed == 9)
        #expect(quiet.tookOnce(all.filter { $0 != bad }))

        let barrier = try await deliver(all, mock: { $0.behavior = Self.lateError(bad.token!) })
        #expect(barrier.status.confirmed == 9)
        #expect(barrier.status.rejectedTotal == 1)
        #expect(barrier.status.confirmedByQuiet == 0)
        #expect(barrier.tookOnce(all.filter { $0 != bad }))
    }

    @Test("A close without an answer: at least once each, and no more possible duplicates than were unknown")
    func silentClose() async throws {
        let all = notifications(200)
        let behavior = MockBinaryBehavior.ending(.close, after: 50).onConnections { $0 == 1 }
        let result = try await deliver(all, mock: { $0.behavior = behavior })
        #expect(result.status.confirmed == 200)
        #expect(Set(result.taken) == Set(all.map(\.payload)))
        #expect(result.status.possibleDuplicates >= 50)
        #expect(result.status.possibleDuplicates <= 200)
    }

    @Test("Tokens that do not have 32 bytes and payloads beyond the route's limit are refused by submit")
    func limits() async throws {
        let endpoint = try LegacyAPNsEndpoint("binary://127.0.0.1:1")
        var configuration = LegacyAPNsConnector.Configuration(endpoint: endpoint)
        configuration.payloadLimit = 256
        let engine = try PushEngine(
            journal: InMemoryJournal(), routes: [Route(connector: try LegacyAPNsConnector(configuration))])
        var short = SampleNotification.numbered(1)
        short.recipient = .device(try DeviceToken("0102"))
        let receipts = await engine.producer.submit([short, SampleNotification.numbered(2, payloadByteCount: 257)])
        let reasons = receipts.map { receipt in
            if case .refused(let refusal) = receipt { refusal.reason } else { nil as Reason? }
        }
        #expect(reasons == [.badDeviceToken, .payloadTooLarge])
    }
}
