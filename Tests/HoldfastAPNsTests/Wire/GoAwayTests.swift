import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastTesting

@Suite("GOAWAY", .timeLimit(.minutes(1))) struct GoAwayTests {
    private func bench(_ behavior: MockBehavior) async throws -> (MockAPNsServer, WireBench) {
        var configuration = MockAPNsConfiguration()
        configuration.behavior = behavior
        let mock = try await MockAPNsServer.start(configuration)
        return (mock, try await WireBench(APNsConnector(APNsConnector.Configuration(mock))))
    }

    @Test("What is above the last stream goes again at once, what is below gets its answer") func lastStream()
        async throws
    {
        let (mock, bench) = try await bench(
            MockBehavior { request in
                request.number == 10
                    ? MockAnswer(delay: .milliseconds(100), ending: .goAwayAndDrain(MockGoAway())) : nil
            })
        bench.handOut(20)
        #expect(await bench.until { $0.end != nil })
        let answers = bench.now.answers
        #expect(bench.now.end?.possiblySent == [])
        #expect(bench.now.isDraining)
        let never = answers.filter { $0.value.verdict == .neverProcessed(.newConnection) }.map(\.key.rawValue)
        #expect(bench.now.confirmed.count + never.count == 20)
        #expect(bench.result(10) == .confirmed)
        #expect(never.allSatisfy { $0 > 10 })
        await bench.finish()
        try await mock.stop()
    }

    @Test("What is at or below the last stream and is not answered before the end is unknown") func unanswered()
        async throws
    {
        let (mock, bench) = try await bench(
            MockBehavior { request in
                switch request.number {
                case 3: MockAnswer(.silence)
                case 10: MockAnswer(ending: .goAwayAndClose(MockGoAway()))
                default: nil
                }
            })
        bench.handOut(20)
        #expect(await bench.until { $0.end != nil })
        #expect(bench.now.end?.possiblySent?.map(\.rawValue) == [3])
        #expect(bench.now.end?.cause?.contains("GOAWAY") == true)
        #expect(bench.now.confirmed.count == 9)
        await bench.finish()
        try await mock.stop()
    }

    /// Counts the requests that are complete in what a client has written.
    private static func requests(in bytes: [UInt8]) -> Int {
        var count = 0
        var start = 24
        while start + 9 <= bytes.count {
            let length = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            if bytes[start + 3] == 0, bytes[start + 4] & 1 == 1, start + 9 + length <= bytes.count { count += 1 }
            start += 9 + length
        }
        return count
    }

    @Test("Two GOAWAYs: the second gives back what the first had left open") func two() async throws {
        let peer = try await TestPeer.start { conversation in
            if conversation.step == 0 {
                conversation.step = 1
                conversation.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
            }
            guard conversation.step == 1, Self.requests(in: conversation.received) == 5 else { return }
            conversation.step = 2
            conversation.write([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
            conversation.write([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0])
            conversation.close()
        }
        let bench = try await WireBench(
            APNsConnector(.init(endpoint: try APNsEndpoint("http://127.0.0.1:\(peer.port)"))))
        bench.handOut(5)
        #expect(await bench.until { $0.end != nil })
        for ticket in 3...5 as ClosedRange<UInt64> {
            #expect(bench.result(ticket)?.verdict == .neverProcessed(.newConnection))
        }
        #expect(bench.now.end?.possiblySent?.map(\.rawValue) == [1, 2])
        await bench.finish()
        try await peer.stop()
    }

    /// What a service says of stream 1 once its response has begun, and what the notification comes to.
    static let contradictions: [(name: String, bytes: [UInt8], verdict: SendResult.Verdict?)] = [
        ("REFUSED_STREAM behind a 200", headers + refused, .unknown),
        ("REFUSED_STREAM behind a 429", headers(0x48, [0x03, 0x34, 0x32, 0x39]) + refused, .unknown),
        ("REFUSED_STREAM behind an informational 103", headers(0x48, [0x03, 0x31, 0x30, 0x33]) + refused, .unknown),
        ("REFUSED_STREAM without a response", refused, .neverProcessed(.none)),
        ("GOAWAY 0 behind a 200, and its end", headers + goAway + [0, 0, 0, 0, 1, 0, 0, 0, 1], .confirmed),
        ("GOAWAY 0 behind a 200, and REFUSED_STREAM", headers + goAway + refused, .unknown),
        ("GOAWAY 0 behind a whole 200", [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88] + goAway + refused, .confirmed),
        ("GOAWAY 0 without a response", goAway, .neverProcessed(.newConnection)),
    ]
    private static let headers: [UInt8] = [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88]
    private static let refused: [UInt8] = [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7]
    private static let goAway: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// A response's header block that names its status in words.
    private static func headers(_ name: UInt8, _ status: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(1 + status.count), 1, 4, 0, 0, 0, 1, name] + status
    }

    @Test("Whoever has begun to answer has processed, whatever it says afterwards", arguments: contradictions.indices)
    func contradiction(_ index: Int) async throws {
        let (name, bytes, verdict) = Self.contradictions[index]
        let peer = try await TestPeer.start { conversation in
            if conversation.step == 0 {
                conversation.step = 1
                conversation.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
            }
            guard conversation.step == 1, Self.requests(in: conversation.received) == 1 else { return }
            conversation.step = 2
            conversation.write(bytes)
        }
        let bench = try await WireBench(
            APNsConnector(.init(endpoint: try APNsEndpoint("http://127.0.0.1:\(peer.port)"))))
        bench.handOut(1)
        #expect(await bench.untilAnswered(), "\(name)")
        #expect(bench.result(1)?.verdict == verdict, "\(name)")
        await bench.finish()
        try await peer.stop()
    }

    @Test(
        "A reason in GOAWAY is the service's word on all that it has not looked at",
        arguments: [
            ("BadCertificate", .laneStopped(.credentials)), ("Forbidden", .laneStopped(.credentials)),
            ("BadCertificateEnvironment", .laneStopped(.credentials)),
            ("InvalidProviderToken", .laneStopped(.credentials)), ("TopicDisallowed", .laneStopped(.topic)),
            ("TooManyProviderTokenUpdates", .deferred(.credentials)),
            ("IdleTimeout", .neverProcessed(.newConnection)), ("Shutdown", .neverProcessed(.newConnection)),
            ("InternalServerError", .neverProcessed(.newConnection)),
            ("BadDeviceToken", .neverProcessed(.newConnection)), ("NewInIOS99", .neverProcessed(.newConnection)),
        ] as [(String, SendResult.Verdict)])
    func reasons(_ reason: String, _ verdict: SendResult.Verdict) async throws {
        let (mock, bench) = try await bench(
            MockBehavior { request in
                request.number == 1 ? MockAnswer(ending: .goAwayAndClose(MockGoAway(reason: reason))) : nil
            })
        bench.handOut(5)
        #expect(await bench.until { $0.end != nil })
        #expect(bench.result(1) == .confirmed)
        for ticket in 2...5 as ClosedRange<UInt64> {
            #expect(bench.result(ticket)?.verdict == verdict)
            #expect(bench.result(ticket)?.reason == Reason(rawValue: reason))
        }
        #expect(bench.now.end?.cause?.contains(reason) == true)
        await bench.finish()
        try await mock.stop()
    }

    @Test("A refusal that comes when nothing is under way is told of the connection as a whole, before its end")
    func nothingOpen() async throws {
        let mock = try await MockAPNsServer.start()
        let connector = try APNsConnector(APNsConnector.Configuration(mock))
        for (reason, verdict) in [
            ("BadCertificate", .laneStopped(.credentials)), ("TooManyProviderTokenUpdates", .deferred(.credentials)),
            ("Shutdown", .neverProcessed(.newConnection)),
        ] as [(String, SendResult.Verdict)] {
            let bench = try await WireBench(connector)
            mock.goAway(MockGoAway(reason: reason))
            #expect(await bench.until { $0.end != nil })
            #expect(bench.now.told.map(\.verdict) == [verdict])
            #expect(bench.now.told.map(\.reason) == [Reason(rawValue: reason)])
            await bench.finish()
        }
        try await mock.stop()
    }

    @Test(
        "A GOAWAY in place of the first answer says who has to act, whether a connection came about or not",
        arguments: [true, false])
    func instead(hasSettings: Bool) async throws {
        for (reason, kind) in [("BadCertificate", ConnectError.Kind.configuration), ("Shutdown", .temporary)] {
            let text = Array(#"{"reason":"\#(reason)"}"#.utf8)
            let peer = try await TestPeer.start { conversation in
                guard conversation.step == 0 else { return }
                conversation.step = 1
                let settings: [UInt8] = hasSettings ? [0, 0, 0, 4, 0, 0, 0, 0, 0] : []
                let head: [UInt8] = [0, 0, UInt8(8 + text.count), 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
                conversation.write(settings + head + text)
            }
            let connector = try APNsConnector(.init(endpoint: try APNsEndpoint("http://127.0.0.1:\(peer.port)")))
            do throws(ConnectError) {
                let recorder = ConnectionRecorder(.perNotification)
                _ = try await connector.connect(recorder.sink)
                #expect(hasSettings)
                #expect(await Patience(.seconds(10)).wait { recorder.now.end != nil })
                #expect(recorder.now.told.map(\.reason) == [Reason(rawValue: reason)])
            } catch {
                #expect(!hasSettings)
                // Without SETTINGS in front of it a GOAWAY breaks the protocol, whatever it says.
                #expect(error.kind == .temporary || error.kind == kind)
            }
            try await peer.stop()
        }
    }
}
