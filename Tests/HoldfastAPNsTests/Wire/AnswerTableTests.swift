import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastTesting

/// Apple's answers, each from the wire to what the engine is told: the tables of Docs/Reference/Answers.md.
@Suite("Each answer means what the table says", .timeLimit(.minutes(1))) struct AnswerTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String?
        let verdict: SendResult.Verdict

        init(_ status: Int, _ reason: String?, _ verdict: SendResult.Verdict) {
            self.status = status
            self.reason = reason
            self.verdict = verdict
        }

        /// Of an error that has none of its own, and asks for patience.
        var foreignReason: Reason? { verdict == .deferred(.service) ? .foreignAnswer : nil }

        var testDescription: String { "\(status) \(reason ?? "without a reason")" }
    }

    static let rows: [Row] =
        [Row(410, "Unregistered", .rejected(.token)), Row(410, "ExpiredToken", .rejected(.token))]
        + ["BadDeviceToken", "DeviceTokenNotForTopic"].map { Row(400, $0, .rejected(.suspectToken)) }
        + [
            "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "InvalidPushType", "DuplicateHeaders",
            "MissingDeviceToken", "PayloadEmpty", "MissingPushType",
        ].map { Row(400, $0, .rejected(.notification)) }
        + [
            Row(413, "PayloadTooLarge", .rejected(.notification)), Row(404, "BadPath", .rejected(.request)),
            Row(405, "MethodNotAllowed", .rejected(.request)),
        ]
        + ["MissingTopic", "BadTopic", "TopicDisallowed"].map { Row(400, $0, .laneStopped(.topic)) }
        + [
            "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
            "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
        ].map { Row(403, $0, .laneStopped(.credentials)) }
        + [
            Row(403, "UnrelatedKeyIdInToken", .neverProcessed(.newConnection)),
            Row(429, "TooManyRequests", .deferred(.token)),
            Row(429, "TooManyProviderTokenUpdates", .deferred(.credentials)),
            Row(400, "IdleTimeout", .neverProcessed(.newConnection)),
            Row(503, "Shutdown", .neverProcessed(.newConnection)),
            Row(500, "InternalServerError", .deferred(.service)),
            Row(503, "ServiceUnavailable", .deferred(.service)),
            // Words nobody has heard of, and none at all.
            Row(400, "NewInIOS99", .rejected(.notification)), Row(403, "NewInIOS99", .laneStopped(.credentials)),
            Row(410, "NewInIOS99", .rejected(.token)), Row(418, "NewInIOS99", .rejected(.notification)),
            Row(429, "NewInIOS99", .deferred(.token)), Row(500, "NewInIOS99", .deferred(.service)),
            Row(599, "NewInIOS99", .deferred(.service)), Row(302, "NewInIOS99", .foreign),
            Row(400, nil, .foreign), Row(403, nil, .foreign), Row(410, nil, .foreign),
            Row(503, nil, .deferred(.service)), Row(204, nil, .foreign),
        ]

    @Test("An answer with a reason, and its neighbours untouched", arguments: rows) func row(_ row: Row) async throws {
        var configuration = MockAPNsConfiguration()
        let body = row.reason.map { #"{"reason":"\#($0)","timestamp":1700000000123}"# } ?? ""
        configuration.behavior = MockBehavior { request in
            guard request.number == 2 else { return nil }
            return MockAnswer(
                .response(
                    status: row.status,
                    headers: [("apns-id", request["apns-id"] ?? ""), ("Retry-After".lowercased(), "17")],
                    body: Array(body.utf8)), bodyFrameByteCount: 5)
        }
        let mock = try await MockAPNsServer.start(configuration)
        let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
        bench.handOut(3)
        #expect(await bench.untilAnswered())
        let result = bench.result(2)
        #expect(result?.verdict == row.verdict)
        #expect(result?.status == row.status)
        #expect(result?.reason == (row.reason.map(Reason.init(rawValue:)) ?? row.foreignReason))
        #expect(result?.timestamp == row.reason.map { _ in WallTime(milliseconds: 1_700_000_000_123) })
        #expect(result?.retryAfter == .seconds(17))
        #expect(bench.result(1) == .confirmed)
        #expect(bench.result(3) == .confirmed)
        // Where the answer asks for a new connection, this one takes nothing more.
        if row.verdict == .neverProcessed(.newConnection) {
            #expect(await bench.until { $0.isDraining && $0.end != nil })
            #expect(bench.now.end?.cause?.contains(row.reason ?? "?") == true)
        } else {
            #expect(!bench.now.isDraining)
        }
        await bench.finish()
        try await mock.stop()
    }

    @Test("Retry-After may be a date") func retryDate() async throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let dates = [100.0, -100, 1_000_000].map { formatter.string(from: Date().addingTimeInterval($0)) }
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { request in
            MockAnswer(.response(status: 503, headers: [("retry-after", dates[request.number - 1])]))
        }
        let mock = try await MockAPNsServer.start(configuration)
        let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
        bench.handOut(3)
        #expect(await bench.untilAnswered())
        let waits = (1...3).map { bench.result($0)?.retryAfter ?? .seconds(-1) }
        #expect((.seconds(60) ... .seconds(100)).contains(waits[0]))
        #expect(waits[1] == .zero)
        #expect(waits[2] == .seconds(24 * 60 * 60))
        await bench.finish()
        try await mock.stop()
    }

    private static func uniqueID(_ number: Int) -> String {
        number > 2 ? String(repeating: "0a", count: 32) : "00000000-0000-0001-0000-00000000000\(number)"
    }

    @Test("The service's own id of a notification is kept, of one that it took and of one that it refused")
    func uniqueIDs() async throws {
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { request in
            MockAnswer(
                .response(
                    status: request.number == 1 ? 200 : 400,
                    headers: [("apns-unique-id", Self.uniqueID(request.number))]))
        }
        let mock = try await MockAPNsServer.start(configuration)
        var connector = try APNsConnector.Configuration(mock)
        for reads in [true, false] {
            connector.readsUniqueIDs = reads
            let bench = try await WireBench(APNsConnector(connector))
            bench.handOut(3)
            #expect(await bench.untilAnswered())
            #expect(bench.result(1)?.verdict == .confirmed)
            // What a success says is read where it was asked for.
            #expect(bench.result(1)?.uniqueID == (reads ? Self.uniqueID(1) : nil))
            #expect(bench.result(2)?.uniqueID == Self.uniqueID(2))
            // What is no UUID may be anything, a device token for example, and is not repeated.
            #expect(bench.result(3)?.uniqueID == nil)
            await bench.finish()
        }
        try await mock.stop()
    }

    @Test("An expired provider token is replaced once on the same connection; a second one is the clock's fault")
    func expiredToken() async throws {
        var configuration = MockAPNsConfiguration()
        let tokens = Monitor<[String]>([])
        configuration.behavior = MockBehavior { request in
            tokens.withLock { $0.append(request["authorization"] ?? "") }
            return request.number == 2 || request.number >= 4 ? MockAnswer(.rejected("ExpiredProviderToken")) : nil
        }
        let mock = try await MockAPNsServer.start(configuration)
        var connector = try APNsConnector.Configuration(mock)
        try connector.sign(for: mock)
        let bench = try await WireBench(APNsConnector(connector))
        for count in 1...4 {
            bench.handOut(1)
            #expect(await bench.untilAnswered())
            #expect(bench.now.answers.count == count)
        }
        #expect(bench.result(1) == .confirmed)
        #expect(bench.result(2)?.verdict == .neverProcessed(.newProviderToken))
        #expect(bench.result(3) == .confirmed)
        #expect(bench.result(4)?.verdict == .laneStopped(.credentials))
        #expect(bench.result(4)?.detail?.contains("clock") == true)
        let sent = tokens.withLock { $0 }
        #expect(sent[0] == sent[1])
        #expect(sent[1] != sent[2])
        #expect(sent[2] == sent[3])
        await bench.finish()
        try await mock.stop()
    }

    @Test(
        "RST_STREAM: refused was never processed; whatever else it says, nobody knows",
        arguments: [
            (0x7, .neverProcessed(.none)), (0x0, .unknown), (0x1, .unknown), (0x2, .unknown), (0x3, .unknown),
            (0x5, .unknown), (0x8, .unknown), (0xB, .unknown), (0xD, .unknown), (0xFFFF, .unknown),
        ] as [(UInt32, SendResult.Verdict)])
    func resets(_ code: UInt32, _ verdict: SendResult.Verdict) async throws {
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { $0.number == 2 ? MockAnswer(.reset(code: code)) : nil }
        let mock = try await MockAPNsServer.start(configuration)
        let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
        bench.handOut(3)
        #expect(await bench.untilAnswered())
        #expect(bench.result(2)?.verdict == verdict)
        #expect(bench.now.confirmed.count == 2)
        #expect(!bench.now.isDraining)
        await bench.finish()
        try await mock.stop()
    }

    @Test("The connection ends: what was written and not answered is possibly sent, and nothing else is") func ends()
        async throws
    {
        var configuration = MockAPNsConfiguration()
        configuration.maxConcurrentStreams = 4
        configuration.behavior = MockBehavior { request in
            switch request.number {
            case 1: nil
            case 4: MockAnswer(.silence, ending: .close)
            default: MockAnswer(.silence)
            }
        }
        let mock = try await MockAPNsServer.start(configuration)
        let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
        bench.handOut(8)
        #expect(await bench.until { $0.end != nil })
        #expect(bench.result(1) == .confirmed)
        let possiblySent = Set(bench.now.end?.possiblySent?.map(\.rawValue) ?? [])
        // The fifth had its stream when the first was answered, or not yet.
        #expect(possiblySent.subtracting([5]) == [2, 3, 4])
        await bench.finish()
        try await mock.stop()
    }

    @Test("SETTINGS that lower the stream limit lower what is asked for, and are no error") func settings() async throws
    {
        let mock = try await MockAPNsServer.start()
        let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
        #expect(bench.connection.capacity == 2000)
        for (limit, capacity) in [(10, 20), (1, 2), (0, 2), (500, 1000)] {
            mock.setMaxConcurrentStreams(limit)
            #expect(await bench.until { $0.capacities.last == capacity })
            #expect(bench.connection.capacity == capacity)
            bench.handOut(limit == 0 ? 0 : 30)
            #expect(await bench.untilAnswered())
        }
        #expect(bench.now.confirmed.count == 90)
        #expect(!bench.now.isDraining)
        await bench.finish()
        try await mock.stop()
    }
}
