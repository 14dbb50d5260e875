import Holdfast
import HoldfastMockAPNs
import HoldfastMocking

extension Fault {
    /// Every row of the matrix. Those that others serve are added here.
    static let all: [Fault] = [
        [none], answers, refusals, resets, goAways, ends, silences, arrivals, foreign,
    ].flatMap(\.self)

    /// Services that lie, which no sender can see and the matrix must: they prove that it can fail. Only for `--only`.
    static let liars: [Fault] = [
        .mock("liar-lost", "200 to five that are not taken") { _ in
            [.request(.init(every: 100, times: 5), MockAnswer(.response(status: 200)))]
        },
        .mock("liar-twice", "REFUSED_STREAM to five that are taken") { _ in
            [.request(.init(every: 100, times: 5), MockAnswer(.acceptedAndReset(code: 0x7)))]
        },
        .mock("liar-reason", "PayloadEmpty to five that have one") { _ in
            [.request(.init(every: 100, times: 5), refused("PayloadEmpty"))]
        },
    ]

    /// Nothing but bad tokens.
    static let none = Fault(
        name: "none", what: "nothing but bad tokens", start: { try await MockFaultyService(count: $0) { _ in } })

    /// A fault that the mock serves by its script.
    static func mock(
        _ name: String, _ what: String, leavesOpen: LeftOpen = .nothing, stopsLane: Bool = false,
        greatestFaults: Int? = nil, shortening: Shortening? = nil,
        _ steps: @escaping @Sendable (_ count: Int) -> [MockScript.Step],
        configure: @escaping @Sendable (inout MockAPNsConfiguration) -> Void = { _ in }
    ) -> Fault {
        Fault(
            name: name, what: what, leavesOpen: leavesOpen, stopsLane: stopsLane, greatestFaults: greatestFaults,
            shortening: shortening
        ) { count in
            try await MockFaultyService(count: count) { configuration in
                var script = MockScript(steps(count))
                // Bad tokens are refused whatever happens, so that their outcome is certain.
                let bad = Set(Sample.badTokens(of: count))
                for index in script.steps.indices { script.steps[index].match.exceptTokens = bad }
                configuration.script = script
                configure(&configuration)
            }
        }
    }

    /// The step that is counted, where another only prepares it.
    static let fault = "fault"

    /// In the middle of a connection's life, at a good token.
    private static func atNumber150(times: Int? = nil) -> MockScript.Match {
        .init(number: 150...170, once: .connection, times: times)
    }

    private static func refused(_ reason: String, status: Int? = nil, retryAfter: String? = nil) -> MockAnswer {
        MockAnswer(.rejected(MockRejection(reason, status: status, retryAfter: retryAfter)))
    }

    // MARK: Answers that are right, and not easy

    private static let answers: [Fault] = [
        .mock("delayed", "each 50th answer 200 ms late, the others at once") { _ in
            [.request(.init(every: 50), MockAnswer(delay: .milliseconds(200)))]
        },
        .mock("body-pieces", "each 20th answered 500, its body byte by byte, 1 ms apart") { _ in
            [
                .request(
                    .init(every: 20),
                    MockAnswer(.rejected("InternalServerError"), bodyFrameByteCount: 1, bodyPause: .milliseconds(1)))
            ]
        },
        .mock("tiny-segments", "all that the service writes in TCP segments of 7 bytes") { _ in
            [.connection(MockConnectionPlan(segmentByteCount: 7))]
        },
        .mock("slow-reader", "the service reads 16 KiB at a time, 2 ms apart") { _ in
            [.connection(MockConnectionPlan(reading: .init(byteCount: 16384, every: .milliseconds(2))))]
        },
    ]

    // MARK: Not now

    private static let takenBeforeStorm = 200

    /// A storm ends by the clock: a route that is throttled makes one request a pause, so one that ended after so many requests
    /// would last for hours.
    ///
    /// - Parameter share: the refusals among the last answers that speak of the service.
    private static func storm(_ name: String, _ what: String, share: Double, _ answer: MockAnswer) -> Fault {
        // The refusals until the route takes them for the service's own, what two connections have under way then, and a probe
        // for each pause.
        let most = Int((Double(takenBeforeStorm) * share / (1 - share)).rounded(.up)) + 2 * streams + 12
        return Fault(name: name, what: what, greatestFaults: most) { count in
            let lapses = Lapses()
            return try await MockFaultyService(count: count, lapses: lapses) { configuration in
                configuration.behavior = MockBehavior { _ in
                    lapses.happens(after: takenBeforeStorm, for: .seconds(10)) ? answer : nil
                }
            }
        }
    }

    private static let refusals: [Fault] = [
        storm(
            "503-storm", "503 ServiceUnavailable with Retry-After: 1 to all from request 200 on, for ten seconds",
            share: 0.1, refused("ServiceUnavailable", retryAfter: "1")),
        storm(
            "500-storm", "500 InternalServerError to all from request 200 on, for ten seconds", share: 0.5,
            refused("InternalServerError")),
        // A share that counts as the service's word, until no slowness has changed it: see Docs/Reference/Answers.md.
        .mock("429-token", "429 TooManyRequests to each 10th notification, the first time") { _ in
            [.request(.init(once: .token, every: 10), refused("TooManyRequests"))]
        },
        .mock(
            "429-updates", "429 TooManyProviderTokenUpdates, three times",
            shortening: .init(words: "parked for 1 s each time, not for 20 min") { engine in
                engine.park = .seconds(1)
            }
        ) { _ in
            [.request(.init(skip: 300, every: 150, times: 3), refused("TooManyProviderTokenUpdates"))]
        },
        .mock("unknown-reason", "503 with a reason that nobody knows, to each 20th, 50 times") { _ in
            [.request(.init(every: 20, times: 50), refused("DaemonsOnHoliday", status: 503))]
        },
        .mock("no-json", "500 with a body that is no JSON, to each 20th, 50 times") { _ in
            [
                .request(
                    .init(every: 20, times: 50),
                    MockAnswer(.response(status: 500, body: Array("<html>oops</html>".utf8))))
            ]
        },
        .mock("503-shutdown", "503 Shutdown to each 200th, ten times: a new connection") { _ in
            [.request(.init(every: 200, times: 10), refused("Shutdown"))]
        },
        .mock("400-idle", "400 IdleTimeout to each 200th, ten times: a new connection") { _ in
            [.request(.init(every: 200, times: 10), refused("IdleTimeout"))]
        },
        .mock("403-unrelated-key", "403 UnrelatedKeyIdInToken, ten times: a new connection") { _ in
            [.request(.init(every: 200, times: 10), refused("UnrelatedKeyIdInToken"))]
        },
        .mock(
            "403-invalid-token", "403 InvalidProviderToken, three times: the lane stops, and resumes by itself",
            stopsLane: true
        ) { _ in
            [.request(.init(skip: 300, every: 400, times: 3), refused("InvalidProviderToken"))]
        },
        .mock("400-topic", "400 TopicDisallowed, three times: the topic is set aside, and comes back by itself") { _ in
            [.request(.init(skip: 300, every: 400, times: 3), refused("TopicDisallowed"))]
        },
        Fault(name: "403-expired", what: "the first provider token is called expired from request 300 on") { count in
            let lapses = Lapses()
            return try await MockFaultyService(count: count, lapses: lapses) { configuration in
                configuration.providerTokens = .verified
                configuration.behavior = MockBehavior { request in
                    guard lapses.isFirst(request["authorization"] ?? ""), request.number > 300 else { return nil }
                    lapses.happened()
                    return refused("ExpiredProviderToken")
                }
            }
        },
    ]

    // MARK: Streams

    private static let resets: [Fault] = [
        .mock("refused-stream", "RST_STREAM REFUSED_STREAM to each third request, 500 times") { _ in
            [.request(.init(every: 3, times: 500), MockAnswer(.reset(code: 0x7)))]
        },
        .mock("reset-untaken", "RST_STREAM CANCEL to each 50th, 30 times; not taken", leavesOpen: .oneRequest) { _ in
            [.request(.init(every: 50, times: 30), MockAnswer(.reset(code: 0x8)))]
        },
        .mock("reset-taken", "RST_STREAM INTERNAL_ERROR to each 50th, 30 times; taken", leavesOpen: .oneRequest) { _ in
            [.request(.init(every: 50, times: 30), MockAnswer(.acceptedAndReset(code: 0x2)))]
        },
        .mock("limit-1", "the stream limit falls to 1, and comes back after 200 ms, five times") { _ in
            [
                .request(
                    .init(skip: 200, every: 200, times: 5),
                    MockAnswer(then: [.streams(1), .streams(100, after: .milliseconds(200))]))
            ]
        },
        .mock("limit-0", "the stream limit falls to 0, and comes back after 200 ms, five times") { _ in
            [
                .request(
                    .init(skip: 200, every: 200, times: 5),
                    MockAnswer(then: [.streams(0), .streams(100, after: .milliseconds(200))]))
            ]
        },
    ]

    // MARK: GOAWAY

    private static let goAways: [Fault] = [
        .mock("goaway", "GOAWAY at the 150th request of each connection, later streams not looked at") { _ in
            [.request(atNumber150(), MockAnswer(then: [.goAway()]))]
        },
        .mock("goaway-behind", "GOAWAY that names a stream 20 requests ahead, ten times") { _ in
            [.request(atNumber150(times: 10), MockAnswer(then: [.goAway(MockGoAway(offset: 20))]))]
        },
        .mock("goaway-twice", "GOAWAY with 2^31-1, and another 20 ms later, ten times") { _ in
            [
                .request(
                    atNumber150(times: 10),
                    MockAnswer(then: [.goAway(.warning), .goAway(after: .milliseconds(20))]))
            ]
        },
        .mock(
            "goaway-shutdown", "GOAWAY with the reason Shutdown, and closed behind it, ten times",
            leavesOpen: .connection
        ) { _ in
            [
                .request(
                    atNumber150(times: 10),
                    MockAnswer(ending: .goAwayAndClose(MockGoAway(reason: "Shutdown"))))
            ]
        },
        .mock(
            "goaway-unanswered", "GOAWAY and closed, the last 20 requests below it taken and not answered, five times",
            leavesOpen: .connection
        ) { _ in
            [
                .request(
                    atNumber150(times: 5), MockAnswer(.acceptedInSilence, ending: .goAwayAndClose(MockGoAway())),
                    name: fault),
                .request(.init(number: 131...149, connections: 1...5), MockAnswer(.acceptedInSilence)),
            ]
        },
    ]

    // MARK: Ends without a word

    private static let ends: [Fault] = [
        .mock("closed-behind", "closed behind the 150th answer, without GOAWAY, ten times", leavesOpen: .connection) {
            _ in
            [.request(atNumber150(times: 10), MockAnswer(ending: .close))]
        },
        .mock(
            "closed-before", "closed before the answer to the 150th request, which was taken, ten times",
            leavesOpen: .connection
        ) { _ in
            [.request(atNumber150(times: 10), MockAnswer(.acceptedInSilence, ending: .close))]
        },
        .mock(
            "reset-behind", "TCP reset behind the 150th answer, which it may overtake, ten times",
            leavesOpen: .connection
        ) { _ in
            [.request(atNumber150(times: 10), MockAnswer(ending: .reset))]
        },
        .mock(
            "reset-before", "TCP reset before the answer to the 150th request, which was not taken, ten times",
            leavesOpen: .connection
        ) { _ in
            [.request(atNumber150(times: 10), MockAnswer(.silence, ending: .reset))]
        },
        .mock(
            "clock", "each of the first ten connections closed after 50 ms, whatever is under way",
            leavesOpen: .connection
        ) { _ in
            [
                .connection(
                    .init(first: 10), MockConnectionPlan(then: [.close(after: .milliseconds(50))]), name: fault),
                .request(.init(connections: 1...10), MockAnswer(delay: .milliseconds(20))),
            ]
        },
    ]

    // MARK: Silence

    private static let silences: [Fault] = [
        .mock(
            "unanswered", "each 100th request taken and never answered, 10 times; the others are",
            leavesOpen: .oneRequest
        ) { _ in
            [.request(.init(skip: 50, every: 100, times: 10), MockAnswer(.acceptedInSilence))]
        },
        .mock(
            "stall", "two connections stall at their 150th request: nothing is answered, PING included",
            leavesOpen: .connection
        ) { _ in
            [.request(atNumber150(times: 2), MockAnswer(then: [.stall]))]
        },
        .mock("stop-reading", "two connections are no longer read from their 150th request on", leavesOpen: .connection)
        { _ in
            [.request(atNumber150(times: 2), MockAnswer(then: [.stopReading]))]
        },
        .mock(
            "no-pong", "two connections take their requests, and answer neither them nor PING", leavesOpen: .connection
        ) { _ in
            [
                .connection(.init(first: 2), MockConnectionPlan(answersPings: false), name: fault),
                .request(.init(connections: 1...2), MockAnswer(.acceptedInSilence)),
            ]
        },
    ]

    // MARK: Connections that never come to anything

    private static let arrivals: [Fault] = [
        .mock("closed-on-arrival", "the first five connections closed as they arrive") { _ in
            [.connection(.init(first: 5), MockConnectionPlan(welcome: .closed))]
        },
        .mock("reset-on-arrival", "the first five connections reset as they arrive") { _ in
            [.connection(.init(first: 5), MockConnectionPlan(welcome: .reset))]
        },
        .mock("tls-alert", "the first five handshakes end in a TLS alert", stopsLane: true) { _ in
            [.connection(.init(first: 5), MockConnectionPlan(tls: .alert))]
        },
        .mock("tls-garbage", "the first five handshakes are answered with what is no TLS", stopsLane: true) { _ in
            [.connection(.init(first: 5), MockConnectionPlan(tls: .garbage))]
        },
        .mock("tls-stall", "the first two handshakes are not answered") { _ in
            [.connection(.init(first: 2), MockConnectionPlan(tls: .stalled))]
        },
        .mock("tls-untrusted", "the first three certificates are of an authority that nobody trusts", stopsLane: true) {
            _ in
            [.connection(.init(first: 3), MockConnectionPlan(tls: .untrusted))]
        },
        .mock("tls-wrong-name", "the first three certificates are for another host", stopsLane: true) { _ in
            [.connection(.init(first: 3), MockConnectionPlan(tls: .wrongName))]
        },
        .mock("tls-no-alpn", "the first three handshakes agree on no protocol", stopsLane: true) { _ in
            [.connection(.init(first: 3), MockConnectionPlan(tls: .withoutALPN))]
        },
        .mock("no-settings", "the first two connections never see SETTINGS") { _ in
            [.connection(.init(first: 2), MockConnectionPlan(settings: .never))]
        },
        .mock("late-settings", "SETTINGS come 300 ms late") { _ in
            [.connection(MockConnectionPlan(settings: .delayed(.milliseconds(300))))]
        },
    ]
}
