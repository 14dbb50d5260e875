import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

@Suite("Behaviors, as nghttp and h2load see them")
struct BehaviorTests {
    static let tokens = (0..<10).map { "a\($0)" }

    @Test("A connection is closed behind the answer to its third request, and what came later is not looked at")
    func closing() async throws {
        try await withServer {
            $0.behavior = .closing(after: 3)
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            #expect(nghttp.count("recv HEADERS") == 3)
            #expect(nghttp.count("recv GOAWAY") == 0)
            #expect(server.counters.accepted == 3)
            #expect(server.counters.requests == 3 + server.counters.ignored)
            try await eventually("the connection is gone") { server.counters.openConnections == 0 }
        }
    }

    @Test("A GOAWAY before the close names the last request that was answered")
    func closingWithGoAway() async throws {
        let behavior = MockBehavior.closing(after: 3, ending: .goAwayAndClose(MockGoAway(reason: "Shutdown")))
        try await withServer {
            $0.behavior = behavior
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            #expect(nghttp.count("recv HEADERS") == 3)
            #expect(nghttp.count("recv GOAWAY") == 1)
            let streams = nghttp.text.matches(of: /recv HEADERS frame <length=\d+, flags=0x05, stream_id=(\d+)>/).map {
                $0.1
            }
            #expect(streams.count == 3)
            #expect(nghttp.text.contains("last_stream_id=\(streams.last ?? "none"), error_code=NO_ERROR(0x00)"))
            #expect(nghttp.text.contains(#"[{"reason":"Shutdown"}]"#))
            #expect(server.counters.accepted == 3)
        }
    }

    @Test("Under load, exactly the answers before the close arrive")
    func closingUnderLoad() async throws {
        try await withServer {
            $0.behavior = .closing(after: 500)
        } _: { server async throws in
            let load = try await H2Load(server, requests: 2000, streams: 100)
            #expect(load.succeeded == 500)
            #expect(server.counters.accepted == 500)
        }
    }

    @Test("A draining connection answers what came before its GOAWAY, however late, and then closes")
    func draining() async throws {
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.delay = .milliseconds(100)
            configuration.behavior = .closing(after: 3, ending: .goAwayAndDrain(MockGoAway()))
        }
        try await withServer(configure) { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            #expect(nghttp.count("recv HEADERS") == 3)
            #expect(nghttp.count("recv GOAWAY") == 1)
            #expect(server.counters.accepted == 3)
        }
    }

    @Test("The first requests are refused with REFUSED_STREAM, the others answered")
    func refusing() async throws {
        try await withServer {
            $0.behavior = .refusing(first: 4)
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            #expect(nghttp.count("error_code=REFUSED_STREAM(0x07)") == 4)
            #expect(nghttp.count("recv HEADERS") == 6)
            #expect(server.counters.reset == 4)
            #expect(server.counters.accepted == 6)
        }
    }

    @Test("Streams of chosen tokens are reset with the code asked for")
    func resetting() async throws {
        try await withServer {
            $0.behavior = .resetting(tokens: ["A3", "a5"], code: 0x2)
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            #expect(nghttp.count("error_code=INTERNAL_ERROR(0x02)") == 2)
            #expect(nghttp.count("recv HEADERS") == 8)
        }
    }

    @Test("An answer to a chosen token comes after those to the others")
    func delaying() async throws {
        try await withServer {
            $0.behavior = .delaying(tokens: ["a0": .milliseconds(150)])
        } _: { server async throws in
            let nghttp = try await NGHTTP(server, tokens: Self.tokens)
            let streams = nghttp.text.matches(of: /recv HEADERS frame <length=\d+, flags=0x05, stream_id=(\d+)>/)
                .compactMap { Int($0.1) }
            #expect(streams.count == 10)
            #expect(streams.last == streams.min())
        }
    }

    @Test("A client without a dynamic table is told that it is empty by the answer that comes first, whichever that is")
    func headerTableSize() async throws {
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.behavior = .delaying(tokens: ["a0": .milliseconds(100)])
            configuration.rejections = ["a1": "Unregistered"]
        }
        try await withServer(configure) { server async throws in
            for tokens in [["a0", "a1", "a2"], ["a2", "a1"], ["a0"]] {
                // nghttp ends the connection with COMPRESSION_ERROR when it misses the size update.
                let nghttp = try await NGHTTP(server, tokens: tokens, options: ["--header-table-size=0"])
                #expect(nghttp.count("recv HEADERS") == tokens.count)
                #expect(nghttp.count("COMPRESSION_ERROR") == 0)
            }
        }
    }

    @Test("An error's body comes in as many DATA frames as asked for, and whole")
    func splittingBodies() async throws {
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.behavior = .splittingBodies(every: 5)
            configuration.rejections = ["a0": "Unregistered"]
        }
        try await withServer(configure) { server async throws in
            let nghttp = try await NGHTTP(server, tokens: ["a0"])
            let lengths = nghttp.text.matches(of: /recv DATA frame <length=(\d+)/).compactMap { Int($0.1) }
            #expect(lengths.dropLast().allSatisfy { $0 == 5 })
            #expect(lengths.count > 5)
            var request = Curl()
            request.path = "/3/device/a0"
            #expect(try await request.send(to: server).reason == "Unregistered")
        }
    }

    @Test("A stalling server answers nothing, and stops all the same")
    func stalling() async throws {
        try await withServer {
            $0.behavior = .stalling
        } _: { server async throws in
            let command = try await Command.run(
                "curl",
                [
                    "-s", "--http2", "--cacert", server.certificateAuthorityFile, "-m", "0.5", "-H",
                    "apns-topic: com.example.app", "-d", "{}", "https://\(server.address)/3/device/abcd",
                ])
            #expect(command.status == 28)
            #expect(server.counters.unanswered == 1)
            #expect(server.counters.accepted == 0)
        }
    }

    @Test("The stream limit is announced, and can change behind an answer")
    func streamLimit() async throws {
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.maxConcurrentStreams = 77
            configuration.behavior = MockBehavior { request in
                // The other answer comes later, so that nghttp is still there to see the change.
                request.number == 1 ? MockAnswer(maxConcurrentStreams: 1) : MockAnswer(delay: .milliseconds(50))
            }
        }
        try await withServer(configure) { server async throws in
            let nghttp = try await NGHTTP(server, tokens: ["a0", "a1"])
            let limits = nghttp.text.matches(of: /SETTINGS_MAX_CONCURRENT_STREAMS\(0x03\):(\d+)/).map { $0.1 }
            // nghttp's own, of 100, comes before or behind our first.
            #expect(limits.filter { $0 != "100" } == ["77", "1"])
        }
    }

    @Test("A behavior may answer anything at all")
    func response() async throws {
        let behavior = MockBehavior { request in
            MockAnswer(
                .response(
                    status: 503, headers: [("retry-after", "7"), ("x-path", request.path)], body: Array("no JSON".utf8))
            )
        }
        try await withServer {
            $0.behavior = behavior
        } _: { server async throws in
            let answer = try await Curl().send(to: server)
            #expect(answer.status == 503)
            #expect(answer.headers["retry-after"] == "7")
            #expect(answer.headers["x-path"] == Curl().path)
            #expect(answer.body == "no JSON")
            #expect(server.counters.scripted == 1)
        }
    }

    @Test("A behavior can be changed while the server runs, and two can be combined")
    func changing() async throws {
        try await withServer { server async throws in
            #expect(try await Curl().send(to: server).status == 200)
            let rejecting = MockBehavior { $0.token == "aa" ? MockAnswer(.rejected("TooManyRequests")) : nil }
            let accepting = MockBehavior { $0.body.isEmpty ? MockAnswer(.accepted) : nil }
            server.setBehavior(rejecting.orElse(accepting))
            var request = Curl()
            request.path = "/3/device/aa"
            #expect(try await request.send(to: server).status == 429)
            request.path = "/3/device/bb"
            request.body = ""
            #expect(try await request.send(to: server).status == 200)
            server.setBehavior(nil)
            #expect(try await request.send(to: server).reason == "PayloadEmpty")
        }
    }

    @Test("The observer is told each request and its outcome")
    func observer() async throws {
        let seen = Seen()
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.observer = { exchanges in seen.add(exchanges) }
            configuration.rejections = ["a1": "Unregistered"]
        }
        try await withServer(configure) { server async throws in
            _ = try await NGHTTP(server, tokens: ["a0", "a1"])
            try await eventually("two exchanges are seen") { seen.exchanges.count == 2 }
        }
        let exchanges = seen.exchanges.sorted { $0.request.number < $1.request.number }
        #expect(exchanges.map(\.status) == [200, 410])
        #expect(exchanges.map(\.reason) == [nil, "Unregistered"])
        #expect(exchanges.map(\.isAccepted) == [true, false])
        #expect(exchanges.map(\.request.token) == ["a0", "a1"])
        #expect(exchanges.map(\.request.connection) == [1, 1])
        #expect(exchanges[0].request["apns-topic"] == "com.example.app")
        #expect(String(decoding: exchanges[0].request.body, as: UTF8.self) == #"{"aps":{"alert":"Hi"}}"#)
        #expect(UUID(uuidString: exchanges[0].id) != nil)
    }
}

/// What an observer has seen, on whatever thread.
final class Seen: @unchecked Sendable {  // `all` is touched only while `lock` is held
    private let lock = NSLock()
    private var all: [MockExchange] = []

    func add(_ exchanges: [MockExchange]) { lock.withLock { all += exchanges } }
    var exchanges: [MockExchange] { lock.withLock { all } }
}
