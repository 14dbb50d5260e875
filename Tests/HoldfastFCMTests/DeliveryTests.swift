import Foundation
import HoldfastFCM
import HoldfastMockFCM
import HoldfastMocking
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// The engine with the real connector, over TLS and HTTP/2, to the mock.
@Suite("Delivery through FCM", .timeLimit(.minutes(3))) struct FCMDeliveryTests {
    private struct Outcome {
        let status: EngineStatus
        let rest: EngineRest
        let journal: InMemoryJournal
        /// The targets of accepted messages, in order.
        let accepted: [String]
        let counters: MockFCMCounters
    }

    private func deliver(
        _ notifications: [PushNotification], connections: Int = 2,
        mock change: (inout MockFCMConfiguration) -> Void = { _ in },
        connector changeConnector: (inout FCMConnector.Configuration) -> Void = { _ in }
    ) async throws -> Outcome {
        let accepted = Monitor<[String]>([])
        var mockConfiguration = MockFCMConfiguration()
        mockConfiguration.observer = { exchanges in
            accepted.withLock { $0 += exchanges.filter(\.isAccepted).compactMap(\.request.token) }
        }
        change(&mockConfiguration)
        let mock = try await MockFCMServer.start(mockConfiguration)
        var configuration = FCMConnector.Configuration(
            serviceAccount: try ServiceAccount(file: mock.serviceAccountFile))
        configuration.endpoint = try FCMEndpoint("https://\(mock.address)")
        configuration.trust = .file(mock.certificateAuthorityFile)
        changeConnector(&configuration)
        var engineConfiguration = EngineConfiguration()
        engineConfiguration.retry = RetrySchedule(minimum: .milliseconds(5), maximum: .milliseconds(20))
        engineConfiguration.throttle.minimumPause = .milliseconds(5)
        engineConfiguration.throttle.maximumPause = .milliseconds(20)
        engineConfiguration.reconnectMinimum = .milliseconds(5)
        engineConfiguration.reconnectMaximum = .milliseconds(50)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: try FCMConnector(configuration), connections: connections)],
            configuration: engineConfiguration, logger: logger)
        for receipt in await engine.producer.submit(notifications) { _ = try receipt.get() }
        let rest = await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            let rest = await engine.untilIdle()
            group.cancelAll()
            return rest
        }
        let counters = mock.counters
        try await mock.stop()
        return Outcome(
            status: engine.status(), rest: rest, journal: journal, accepted: accepted.withLock { $0 },
            counters: counters)
    }

    private func messages(_ count: Int, guarantee: Guarantee = .atLeastOnce) throws -> [PushNotification] {
        let kinds: [ServiceAddress.Kind] = [
            .firebaseInstallation, .firebaseToken, .firebaseTopic, .firebaseCondition,
        ]
        return try (0..<count).map { try FCMSample.message($0, kinds[$0 % 4], guarantee: guarantee) }
    }

    @Test("Ten thousand messages to all kinds of targets arrive once each, with one access token") func delivers()
        async throws
    {
        let outcome = try await deliver(try messages(10_000))
        #expect(outcome.rest == .drained)
        #expect(outcome.status.confirmed == 10_000)
        #expect(outcome.accepted.count == 10_000 && Set(outcome.accepted).count == 10_000)
        #expect(outcome.counters.tokens == 1 && outcome.counters.reset == 0)
    }

    @Test("Of messages that a 5xx answers behind their taking, at most once sends none twice; the rest arrives")
    func atMostOnce() async throws {
        let outcome = try await deliver(
            try messages(2000, guarantee: .atMostOnce),
            mock: {
                $0.script = [.request(.init(every: 10, times: 100), MockAnswer(.acceptedAndRejected("UNAVAILABLE")))]
            })
        #expect(outcome.rest == .drained)
        #expect(Set(outcome.accepted).count == outcome.accepted.count)
        #expect(Set(outcome.accepted).count == 2000)
        #expect(outcome.status.unknown == 100 && outcome.status.confirmed == 1900)
    }

    @Test("At least once sends them again, as possible duplicates, and loses none") func atLeastOnce() async throws {
        let outcome = try await deliver(
            try messages(2000),
            mock: {
                $0.script = [.request(.init(every: 10, times: 100), MockAnswer(.acceptedAndRejected("UNAVAILABLE")))]
            })
        #expect(outcome.rest == .drained && outcome.status.confirmed == 2000)
        #expect(Set(outcome.accepted).count == 2000)
        #expect(outcome.accepted.count == 2100)
    }

    @Test("A target that is not registered is blacklisted under its project, and its neighbours arrive")
    func unregistered()
        async throws
    {
        let outcome = try await deliver(try messages(20), mock: { $0.rejections = ["target-4": "UNREGISTERED"] })
        #expect(outcome.rest == .drained && outcome.status.confirmed == 19)
        let cause = try #require(outcome.journal.rejections[UID(5)])
        #expect(cause.reason.rawValue == "UNREGISTERED" && cause.status == 404)
        let recipient = try FCMSample.message(4).recipient
        #expect(try TokenBlacklist(storage: outcome.journal.blacklist).isBlacklisted(recipient) != nil)
    }

    @Test("A quota holds messages back, and none is rejected for it") func quota() async throws {
        let outcome = try await deliver(
            try messages(600),
            mock: { $0.quota = MockFCMConfiguration.Quota(200, per: .milliseconds(400), retryAfter: "0") })
        #expect(outcome.rest == .drained && outcome.status.confirmed == 600 && outcome.status.rejectedTotal == 0)
        #expect(outcome.accepted.count == 600)
    }

    @Test("Connections that are closed and drained in the middle lose nothing") func closings() async throws {
        let outcome = try await deliver(
            try messages(2000), connections: 3,
            mock: {
                $0.script = [
                    .request(.init(count: 300...300), MockAnswer(ending: .close)),
                    .request(.init(count: 700...700), MockAnswer(ending: .goAwayAndDrain(MockGoAway()))),
                    .request(.init(count: 1100...1100), MockAnswer(ending: .reset)),
                ]
            })
        #expect(outcome.rest == .drained && outcome.status.confirmed == 2000)
        #expect(Set(outcome.accepted).count == 2000)
    }

    @Test("A full window never opens more streams at a time than the service allows") func fullWindow() async throws {
        let outcome = try await deliver(try messages(3000), mock: { $0.delay = .milliseconds(10) })
        #expect(outcome.rest == .drained && outcome.status.confirmed == 3000)
        #expect(outcome.counters.streamLimitExceeded == 0)
    }

    @Test(
        "A service that ends connections at fewer streams than it allows loses nothing, and nothing goes twice",
        arguments: [Guarantee.atLeastOnce, .atMostOnce])
    func hiddenLimit(guarantee: Guarantee) async throws {
        let outcome = try await deliver(
            try messages(400, guarantee: guarantee),
            mock: {
                $0.delay = .milliseconds(5)
                $0.hiddenStreamLimit = 60
            })
        #expect(outcome.rest == .drained && outcome.status.confirmed == 400)
        #expect(outcome.status.unknown == 0 && outcome.status.rejectedTotal == 0)
        #expect(outcome.accepted.count == 400 && Set(outcome.accepted).count == 400)
        #expect(outcome.counters.streamLimitExceeded > 0)
    }

    @Test("A project that may not be sent for stops the route, and says so") func stopped() async throws {
        let outcome = try await deliver(
            try messages(5), mock: { $0.script = [.request(MockAnswer(.rejected("PERMISSION_DENIED")))] })
        guard case .stopped(let why) = outcome.rest else {
            Issue.record("\(outcome.rest)")
            return
        }
        #expect(why.contains("PERMISSION_DENIED"), "\(why)")
        #expect(outcome.status.confirmed == 0 && outcome.status.rejectedTotal == 0)
    }

    @Test("Messages that are only validated are confirmed, and not taken") func validated() async throws {
        let outcome = try await deliver(try messages(10), connector: { $0.validatesOnly = true })
        #expect(outcome.status.confirmed == 10 && outcome.counters.validated == 10 && outcome.counters.accepted == 0)
    }

    @Test("A topic of another project, and a recipient of Apple's, are refused when they are submitted") func limits()
        async throws
    {
        let mock = try await MockFCMServer.start()
        let account = try ServiceAccount(file: mock.serviceAccountFile)
        let connector = try FCMConnector(FCMConnector.Configuration(serviceAccount: account))
        // Told to operators in Google's terms.
        let advice = try #require(connector.limits.service?.advice)
        #expect(advice.credentialsRefused.contains("service account") && advice.recipientsRefused.contains("project"))
        #expect(advice.suspicion == "the project")
        let engine = try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: connector)])
        var other = try FCMSample.message(1)
        other.topic = "other-project"
        let long = try FCMSample.message(
            2, payload: #"{"data":{"a":"\#(String(repeating: "x", count: FCMConnector.payloadLimit))"}}"#)
        let apple = PushNotification(
            token: try #require(DeviceToken(bytes: [UInt8](repeating: 1, count: 32))), topic: FCMSample.project,
            payload: Array("{}".utf8))
        let receipts = await engine.producer.submit([other, long, apple])
        let reasons = receipts.map { receipt -> String in
            do {
                _ = try receipt.get()
                return "accepted"
            } catch {
                return "\(error)"
            }
        }
        #expect(reasons[0].contains("TopicDisallowed"), "\(reasons)")
        #expect(reasons[1].contains("PayloadTooLarge"), "\(reasons)")
        #expect(reasons[2].contains("RecipientUnsupported"), "\(reasons)")
        try await mock.stop()
    }
}
