import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastRequests
@testable import HoldfastTesting

@Suite("A connection's life", .timeLimit(.minutes(1))) struct ConnectionLifeTests {
    @Test("With provider tokens one request is open until one was taken; then all may be") func firstStream()
        async throws
    {
        let arrivals = Monitor<[ContinuousClock.Instant]>([])
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { request in
            arrivals.withLock { $0.append(.now) }
            return switch request.number {
            case 1: MockAnswer(.rejected("Unregistered"), delay: .milliseconds(100))
            case 2: MockAnswer(delay: .milliseconds(100))
            default: MockAnswer(.silence)
            }
        }
        let mock = try await MockAPNsServer.start(configuration)
        var connector = try APNsConnector.Configuration(mock)
        try connector.sign(for: mock)
        let bench = try await WireBench(APNsConnector(connector))
        bench.handOut(20)
        // All others are open at a time: the service has them, and answers none.
        #expect(await bench.until { _ in arrivals.withLock { $0.count } == 20 })
        let times = arrivals.withLock { $0 }
        #expect(times[1] - times[0] >= .milliseconds(99))
        #expect(times[2] - times[1] >= .milliseconds(99))
        await bench.finish()
        try await mock.stop()
    }

    @Test("Without provider tokens all may start at once") func certificates() async throws {
        var configuration = MockAPNsConfiguration()
        configuration.behavior = .stalling
        let mock = try await MockAPNsServer.start(configuration)
        let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
        bench.handOut(20)
        #expect(await bench.until { _ in mock.counters.requests == 20 })
        await bench.finish()
        try await mock.stop()
    }

    @Test("Stream numbers run out: what has one is answered, the rest goes over another connection") func exhausted()
        async throws
    {
        let mock = try await MockAPNsServer.start()
        var configuration = try APNsConnector.Configuration(mock)
        configuration.firstStreamID = 0x7FFF_FFFF - 2 * 19
        let bench = try await WireBench(APNsConnector(configuration))
        bench.handOut(30)
        #expect(await bench.until { $0.end != nil })
        #expect(bench.now.confirmed.count == 20)
        #expect(bench.now.answers.values.count { $0.verdict == .neverProcessed(.newConnection) } == 10)
        #expect(bench.now.end?.possiblySent == [])
        #expect(bench.now.end?.cause?.contains("stream numbers") == true)
        await bench.finish()
        try await mock.stop()
    }

    @Test("A connection with nothing to send is closed in order after a while") func idle() async throws {
        let mock = try await MockAPNsServer.start()
        var configuration = try APNsConnector.Configuration(mock)
        configuration.idleClose = .seconds(1)
        let bench = try await WireBench(APNsConnector(configuration))
        bench.handOut(3)
        #expect(await bench.until { $0.end != nil })
        #expect(bench.now.confirmed.count == 3)
        #expect(bench.now.isDraining)
        #expect(bench.now.end?.cause == nil)
        #expect(mock.counters.protocolErrors == 0)
        await bench.finish()
        try await mock.stop()
    }

    @Test("Nothing but 500s for a while: all are told, and the connection takes nothing more") func errors()
        async throws
    {
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { _ in MockAnswer(.rejected("InternalServerError")) }
        let mock = try await MockAPNsServer.start(configuration)
        var connector = try APNsConnector.Configuration(mock)
        connector.sendDeadline = .seconds(1)
        let bench = try await WireBench(APNsConnector(connector))
        var handedOut = 0
        let limit = ContinuousClock.now + .seconds(30)
        while bench.now.end == nil, !bench.now.isDraining, ContinuousClock.now < limit {
            bench.handOut(1)
            handedOut += 1
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(await bench.until { $0.end != nil })
        #expect(handedOut > AnswerRecord.errorsInARow)
        #expect(bench.now.end?.cause?.contains("500") == true)
        // The last ones may have been handed out to a connection that was leaving already.
        #expect(bench.now.answers.values.count { $0.verdict == .deferred(.service) } >= AnswerRecord.errorsInARow)
        await bench.finish()
        try await mock.stop()
    }

    @Test("Some are answered and others never: the connection is given up as patchy") func patchy()
        async throws
    {
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { $0.number.isMultiple(of: 2) ? MockAnswer(.silence) : nil }
        let mock = try await MockAPNsServer.start(configuration)
        var connector = try APNsConnector.Configuration(mock)
        connector.sendDeadline = .seconds(3)
        let bench = try await WireBench(APNsConnector(connector))
        bench.handOut(20)
        // Answers go on, so that the connection is not silent.
        #expect(await bench.until { $0.confirmed.count == 10 })
        let limit = ContinuousClock.now + .seconds(10)
        while bench.now.end == nil, !bench.now.isDraining, ContinuousClock.now < limit {
            bench.handOut(1)
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(await bench.until { $0.end != nil })
        #expect(bench.now.end?.cause?.contains("answers some requests and not others") == true)
        #expect(bench.now.answers.values.count { $0.verdict == .unknown } >= AnswerRecord.leastUnanswered)
        await bench.finish()
        try await mock.stop()
    }

    @Test("An answer that ends the connection comes before its end, together with its neighbours") func lastAnswers()
        async throws
    {
        for round in 1...4 {
            var configuration = MockAPNsConfiguration()
            configuration.behavior = MockBehavior { request in
                MockAnswer(.rejected(request.number == 3 ? "Shutdown" : "PayloadEmpty"))
            }
            let mock = try await MockAPNsServer.start(configuration)
            let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
            bench.handOut(3)
            #expect(await bench.until { $0.end != nil })
            #expect(bench.now.answers.count == 3, "round \(round)")
            await bench.finish()
            try await mock.stop()
        }
    }
}

@Suite("What goes out", .timeLimit(.minutes(1))) struct RequestFieldsTests {
    @Test("Every push type and every header arrives as it was meant, and no other does", arguments: [false, true])
    func fields(withToken: Bool) async throws {
        let requests = Monitor<[MockRequest]>([])
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { request in
            requests.withLock { $0.append(request) }
            return nil
        }
        let mock = try await MockAPNsServer.start(configuration)
        var connector = try APNsConnector.Configuration(mock)
        if withToken { try connector.sign(for: mock) }
        var notifications: [PushNotification] = []
        for type in [nil] + PushType.known.map(Optional.some) {
            for priority in [nil, Priority.immediate, .considerate, .low] {
                for collapse in [nil, "a collapse id, \u{E9}"] {
                    var notification = SampleNotification.numbered(notifications.count + 1)
                    notification.topic = "com.example.app" + (type.map { ".\($0.rawValue)" } ?? "")
                    notification.pushType = type
                    notification.priority = type == .background ? .considerate : priority
                    notification.collapseID = collapse
                    notification.expiration = notifications.count.isMultiple(of: 3) ? .once : .at(4_000_000_000)
                    notifications.append(notification)
                }
            }
        }
        let bench = try await WireBench(APNsConnector(connector))
        bench.handOut(notifications)
        #expect(await bench.untilAnswered())
        let received = requests.withLock { $0 }
        #expect(received.count == notifications.count)
        for (request, notification) in zip(received, notifications) {
            var expected = [
                (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(notification.recipient.text)"),
                (":authority", "127.0.0.1:\(mock.port)"), ("apns-topic", notification.topic),
                ("apns-id", notification.id?.description ?? ""),
            ]
            if let seconds = notification.expiration?.unixSeconds { expected.append(("apns-expiration", "\(seconds)")) }
            if let type = notification.pushType { expected.append(("apns-push-type", type.rawValue)) }
            if let priority = notification.priority { expected.append(("apns-priority", "\(priority.rawValue)")) }
            if let collapse = notification.collapseID { expected.append(("apns-collapse-id", collapse)) }
            let found = request.headers.filter { $0.name != "authorization" }
            #expect(Set(found.map { "\($0.name): \($0.value)" }) == Set(expected.map { "\($0.0): \($0.1)" }))
            #expect(request.headers.count == expected.count + (withToken ? 1 : 0))
            #expect((request["authorization"]?.hasPrefix("bearer ") ?? false) == withToken)
            #expect(request.body == notification.payload)
        }
        await bench.finish()
        try await mock.stop()
    }
}
