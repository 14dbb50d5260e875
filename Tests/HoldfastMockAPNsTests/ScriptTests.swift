import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

@Suite("A script's steps for requests, as curl and nghttp see them")
struct ScriptTests {
    private static let tokens = (0..<10).map { "a\($0)" }

    /// Which of ten requests on one connection a step is for, counted from 1.
    private func taken(_ match: MockScript.Match) async throws -> [Int] {
        let seen = Seen()
        try await withServer {
            $0.observer = { exchanges in seen.add(exchanges) }
            $0.script = [.request(match, MockAnswer(.rejected("TooManyRequests")))]
        } _: { server async throws in
            _ = try await NGHTTP(server, tokens: Self.tokens)
            try await eventually("ten are seen") { seen.exchanges.count == 10 }
        }
        return seen.exchanges.filter { $0.status == 429 }.map(\.request.number).sorted()
    }

    @Test("A step is for the first so many, for each so-manieth, or for some in a row")
    func counting() async throws {
        #expect(try await taken(.init(first: 2)) == [1, 2])
        #expect(try await taken(.init(every: 3)) == [3, 6, 9])
        #expect(try await taken(.init(count: 3...4)) == [3, 4])
        #expect(try await taken(.init(skip: 2, every: 2, times: 2)) == [4, 6])
        #expect(try await taken(.init(once: .connection, skip: 4)) == [5])
        #expect(try await taken(.init(topics: ["com.example.other"])).isEmpty)
        #expect(try await taken(.init(exceptTokens: Array(Self.tokens.dropLast()))).count == 1)
        #expect(try await taken(.init(after: .seconds(3600))).isEmpty)
    }

    @Test("A step is for what is beyond a quota for each second") func quota() async throws {
        #expect(try await taken(.init(beyond: 0)).count == 10)
        // A second may end in between.
        #expect((2...6).contains(try await taken(.init(beyond: 4)).count))
        #expect(try await taken(.init(beyond: 10)).isEmpty)
    }

    @Test("A step is for chosen tokens, or connections, or for each token once")
    func choosing() async throws {
        func reasons(_ match: MockScript.Match) async throws -> [String?] {
            try await withServer {
                $0.script = [.request(match, MockAnswer(.rejected("TooManyRequests")))]
            } _: { server async throws in
                var reasons: [String?] = []
                for token in ["b1", "b2", "b1"] {
                    var request = Curl()
                    request.path = "/3/device/\(token)"
                    reasons.append(try await request.send(to: server).reason)
                }
                return reasons
            }
        }
        let no = "TooManyRequests"
        #expect(try await reasons(.init(tokens: ["B1"])) == [no, nil, no])
        #expect(try await reasons(.init(connections: 2...2)) == [nil, no, nil])
        #expect(try await reasons(.init(once: .token)) == [no, no, nil])
    }

    @Test("The first step that fits decides, and each is counted by its name")
    func order() async throws {
        let script: MockScript = [
            .request(.init(first: 1), MockAnswer(.rejected("ExpiredProviderToken")), name: "expired"),
            .request(.init(first: 1), MockAnswer(.rejected("InternalServerError"))),
        ]
        try await withServer {
            $0.script = script
        } _: { server async throws in
            for expected in ["ExpiredProviderToken", "InternalServerError", nil] {
                #expect(try await Curl().send(to: server).reason == expected)
            }
            #expect(server.scriptCounts.map(\.name) == ["expired", "step 2"])
            #expect(server.scriptCounts.map(\.count) == [1, 1])
            server.setScript([.request(MockAnswer(.rejected("Shutdown")))])
            #expect(try await Curl().send(to: server).reason == "Shutdown")
            server.setScript(nil)
            #expect(try await Curl().send(to: server).status == 200)
        }
    }

    @Test("A storm of 503 with Retry-After ends at its time", arguments: ["7", "Wed, 21 Oct 2026 07:28:00 GMT"])
    func storm(_ retryAfter: String) async throws {
        let rejection = MockRejection("ServiceUnavailable", retryAfter: retryAfter)
        try await withServer {
            $0.script = [.request(.init(until: .seconds(1)), MockAnswer(.rejected(rejection)))]
        } _: { server async throws in
            let answer = try await Curl().send(to: server)
            #expect(answer.status == 503 && answer.reason == "ServiceUnavailable")
            #expect(answer.headers["retry-after"] == retryAfter)
            try await Task.sleep(for: .seconds(1))
            #expect(try await Curl().send(to: server).status == 200)
        }
    }

    @Test("GOAWAY names the stream that was chosen, and its reason; what comes behind is not looked at")
    func goAway() async throws {
        let goAway = MockGoAway(code: 2, offset: 2, debugData: #"{"reason":"BadCertificate"}"#)
        try await withServer {
            $0.delay = .milliseconds(100)
            $0.script = [.request(.init(number: 3), MockAnswer(then: [.goAway(goAway)]))]
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            #expect(nghttp.count("recv GOAWAY") == 1)
            #expect(nghttp.text.contains("error_code=INTERNAL_ERROR(0x02)"))
            #expect(nghttp.text.contains("BadCertificate"))
            let first = try #require(
                nghttp.text.firstMatch(of: /send HEADERS frame <length=\d+, flags=0x\w+, stream_id=(\d+)>/))
            let last = try #require(nghttp.text.firstMatch(of: /last_stream_id=(\d+)/))
            #expect(Int(last.1) == (Int(first.1) ?? 0) + 8)
            #expect(nghttp.count("recv HEADERS") == 5 && server.counters.accepted == 5)
        }
    }

    @Test("Two GOAWAYs: the first announces the second, which names the last stream of its time")
    func twoGoAways() async throws {
        let effects: [MockEffect] = [.goAway(.warning), .goAway(MockGoAway(), after: .milliseconds(100))]
        try await withServer {
            $0.delay = .milliseconds(50)
            $0.script = [
                .request(.init(number: 10), MockAnswer(delay: .milliseconds(200))),
                .request(.init(number: 1), MockAnswer(then: effects)),
            ]
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            let lasts = nghttp.text.matches(of: /last_stream_id=(\d+), error_code=NO_ERROR\(0x00\), opaque/).map(\.1)
            #expect(nghttp.count("recv GOAWAY") == 2)
            #expect(lasts.first == "2147483647")
            #expect(server.counters.accepted == 10)
            #expect(nghttp.count("recv HEADERS") == 10)
        }
    }

    @Test("The stream limit falls to 1, to 0, and comes back by the clock")
    func streamLimits() async throws {
        let effects: [MockEffect] = [
            .streams(1), .streams(0, after: .milliseconds(30)), .streams(50, after: .milliseconds(60)),
        ]
        try await withServer {
            $0.script = [
                .request(.init(number: 1), MockAnswer(then: effects)),
                .request(.init(number: 2), MockAnswer(delay: .milliseconds(150))),
            ]
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: ["a0", "a1"])
            let limits = nghttp.text.matches(of: /SETTINGS_MAX_CONCURRENT_STREAMS\(0x03\):(\d+)/).map { $0.1 }
            #expect(limits.filter { $0 != "100" } == ["1000", "1", "0", "50"])
        }
    }

    @Test("Closed, reset, or silent instead of an answer; taken all the same where that is said")
    func endings() async throws {
        func status(_ answer: MockAnswer) async throws -> (curl: Int32, accepted: Int) {
            try await withServer {
                $0.script = [.request(answer)]
            } _: { server async throws in
                let command = try await Command.run(
                    "curl",
                    [
                        "-s", "--http2", "--cacert", server.certificateAuthorityFile, "-m", "1", "-H",
                        "apns-topic: com.example.app", "-d", "{}", "https://\(server.address)/3/device/abcd",
                    ])
                return (command.status, server.counters.accepted)
            }
        }
        let unanswered = try await status(MockAnswer(.acceptedInSilence, ending: .close))
        #expect(unanswered.accepted == 1 && unanswered.curl != 0 && unanswered.curl != 28)
        let reset = try await status(MockAnswer(.silence, ending: .reset))
        #expect(reset.accepted == 0 && reset.curl != 0 && reset.curl != 28)
        let stalled = try await status(MockAnswer(.silence, then: [.stall]))
        #expect(stalled.accepted == 0 && stalled.curl == 28)
        let late = try await status(MockAnswer(.silence, then: [.close(after: .milliseconds(100))]))
        #expect(late.curl != 0 && late.curl != 28)
    }

    @Test("What comes behind a stall is not answered, what came before is")
    func stall() async throws {
        try await withServer {
            $0.script = [.request(.init(number: 4), MockAnswer(.silence, then: [.stall]))]
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens, options: ["-t", "1"])
            #expect(nghttp.count("recv HEADERS") == 3)
            #expect(server.counters.accepted == 3)
        }
    }

    @Test("An error's body in pieces with pauses is the same body")
    func pieces() async throws {
        let answer = MockAnswer(.rejected("Unregistered"), bodyFrameByteCount: 7, bodyPause: .milliseconds(10))
        try await withServer {
            $0.script = [.request(answer)]
        } _: { server async throws in
            let start = ContinuousClock.now
            let answer = try await Curl().send(to: server)
            #expect(answer.status == 410 && answer.reason == "Unregistered" && answer.timestamp != nil)
            #expect(ContinuousClock.now - start > .milliseconds(50))
        }
    }
}
