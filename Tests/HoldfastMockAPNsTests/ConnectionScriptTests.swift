import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

@Suite("A script's steps for connections")
struct ConnectionScriptTests {
    /// curl's exit code for one notification.
    private func curl(_ server: MockAPNsServer, to address: String? = nil, limit: String = "1.5") async throws -> Int32
    {
        try await Command.run(
            "curl",
            [
                "-s", "--http2", "--cacert", server.certificateAuthorityFile, "-m", limit, "-H",
                "apns-topic: com.example.app", "-d", "{}", "https://\(address ?? server.address)/3/device/abcd",
            ]
        ).status
    }

    @Test(
        "TLS fails as it is told to, and the next connection is as it should be",
        arguments: [
            (MockConnectionPlan.TLS.alert, [35]), (.wrongName, [60]), (.untrusted, [60]), (.expired, [60]),
            (.withoutALPN, [52, 56]), (.stalled, [28]), (.garbage, [35]),
        ])
    func tls(_ way: MockConnectionPlan.TLS, _ statuses: [Int32]) async throws {
        try await withServer {
            $0.script = [.connection(.init(first: 1), MockConnectionPlan(tls: way))]
        } _: { server async throws in
            #expect(statuses.contains(try await curl(server)))
            #expect(try await curl(server) == 0)
            #expect(server.counters.accepted == 1)
            try await eventually("the failure is counted") { server.counters.handshakesFailed == 1 }
        }
    }

    @Test("A client that offers no ALPN is served HTTP/2, as by Apple")
    func withoutALPN() async throws {
        try await withServer { server in
            let program = """
                import socket, ssl, sys
                host, port = sys.argv[1].rsplit(":", 1)
                context = ssl.create_default_context(cafile=sys.argv[2])
                with context.wrap_socket(socket.create_connection((host, int(port)), 10), server_hostname=host) as tls:
                    tls.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + b"\\0\\0\\0\\4\\0\\0\\0\\0\\0")
                    sys.exit(0 if tls.recv(9)[3:4] == b"\\4" else 1)
                """
            let command = try await Command.run(
                "python3", ["-c", program, server.address, server.certificateAuthorityFile])
            #expect(command.status == 0, "\(command.text)")
            #expect(server.counters.handshakesFailed == 0)
        }
    }

    @Test("A connection is closed or reset as it arrives", arguments: [MockConnectionPlan.Welcome.closed, .reset])
    func welcome(_ welcome: MockConnectionPlan.Welcome) async throws {
        try await withServer {
            $0.script = [.connection(.init(first: 1), MockConnectionPlan(welcome: welcome))]
        } _: { server async throws in
            // In the handshake, or before it: curl's words for a reset differ by the moment.
            #expect([35, 55, 56, 7].contains(try await curl(server)))
            #expect(try await curl(server) == 0)
        }
    }

    @Test("SETTINGS that never come leave a client waiting; late ones do not")
    func settings() async throws {
        try await withServer {
            $0.script = [
                .connection(.init(first: 1), MockConnectionPlan(settings: .never)),
                .connection(MockConnectionPlan(settings: .delayed(.milliseconds(200)))),
            ]
        } _: { server async throws in
            #expect(try await curl(server) == 28)
            #expect(server.counters.requests == 0)
            let start = ContinuousClock.now
            #expect(try await curl(server) == 0)
            #expect(ContinuousClock.now - start >= .milliseconds(200))
        }
    }

    @Test("Each address has ways of its own: three for one server")
    func addresses() async throws {
        try await withServer {
            $0.furtherAddresses = ["127.0.0.2", "[::1]"]
            $0.script = [
                .connection(.init(address: "127.0.0.2"), MockConnectionPlan(welcome: .reset)),
                .request(.init(address: "::1"), MockAnswer(.rejected("Shutdown"))),
            ]
        } _: { server async throws in
            #expect(server.addresses.map(\.host) == ["127.0.0.1", "127.0.0.2", "::1"])
            #expect(Set(server.addresses.map(\.port)) == [server.port])
            #expect(try await curl(server) == 0)
            #expect(try await curl(server, to: server.addresses[1].description) != 0)
            #expect(try await curl(server, to: server.addresses[2].description) == 0)
            #expect(server.counters.accepted == 1 && server.counters.rejected == ["Shutdown": 1])
        }
    }

    @Test("A connection is ended by the clock, whatever is under way on it")
    func clock() async throws {
        try await withServer {
            $0.script = [
                .connection(MockConnectionPlan(maxConcurrentStreams: 3, then: [.close(after: .milliseconds(200))])),
                .request(MockAnswer(.silence)),
            ]
        } _: { server async throws in
            let start = ContinuousClock.now
            let nghttp = try await NGHTTP(server, tokens: ["a0"])
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(nghttp.text.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):3"))
            #expect(nghttp.count("recv HEADERS") == 0)
        }
    }

    @Test("A server that reads slowly holds its client back")
    func slowReading() async throws {
        try await withServer {
            let reading = MockConnectionPlan.Reading(byteCount: 2048, every: .milliseconds(20))
            $0.script = [.connection(MockConnectionPlan(reading: reading))]
        } _: { server async throws in
            var request = Curl()
            request.body = String(repeating: "x", count: 40_000)
            let start = ContinuousClock.now
            #expect(try await request.send(to: server).reason == "PayloadTooLarge")
            #expect(ContinuousClock.now - start > .milliseconds(300))
        }
    }

    @Test("Answers come byte by byte below TLS, and are whole")
    func segments() async throws {
        try await withServer {
            $0.script = [.connection(MockConnectionPlan(segmentByteCount: 1))]
        } _: { server async throws in
            #expect(try await curl(server, limit: "5") == 0)
        }
    }

    /// Sends the preface, SETTINGS and a PING in the clear, and prints how many answers to PING come within half a second.
    private static let pinger = """
        import socket, sys
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
        s.settimeout(0.5)
        s.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0,0,0,4,0,0,0,0,0]) + bytes([0,0,8,6,0,0,0,0,0]) + b"holdfast")
        data = b""
        try:
            while True:
                more = s.recv(4096)
                if not more: break
                data += more
        except TimeoutError: pass
        pongs = 0
        while len(data) >= 9:
            length = int.from_bytes(data[:3], "big")
            pongs += data[3] == 6 and data[4] == 1 and data[9:17] == b"holdfast"
            data = data[9 + length:]
        print(pongs)
        """

    @Test("PING is left without an answer where that is asked for", arguments: [true, false])
    func pings(_ answers: Bool) async throws {
        try await withServer {
            $0.isCleartext = true
            $0.script = [.connection(MockConnectionPlan(answersPings: answers))]
        } _: { server async throws in
            let command = try await Command.run("python3", ["-c", Self.pinger, "\(server.port)"])
            #expect(command.text == (answers ? "1\n" : "0\n"))
        }
    }

    @Test("A second stream before the first 200 is refused, or ends the connection, or is held back by SETTINGS")
    func firstStream() async throws {
        let tokens = (0..<5).map { "a\($0)" }
        func nghttp(_ rule: MockAPNsConfiguration.FirstStreamRule) async throws -> (NGHTTP, MockCounters) {
            try await withServer {
                $0.firstStreamRule = rule
                $0.delay = .milliseconds(100)
            } _: { server async throws in
                (try await NGHTTP(server, tokens: tokens), server.counters)
            }
        }
        let (refused, refusals) = try await nghttp(.refused)
        #expect(refused.count("REFUSED_STREAM") == 4 && refusals.accepted == 1 && refusals.refusedBeforeFirst == 4)
        let (gone, farewells) = try await nghttp(.goAway)
        #expect(gone.count("recv GOAWAY") == 1 && gone.text.contains("TooManyRequests"))
        #expect(farewells.accepted == 1 && farewells.refusedBeforeFirst == 1)
        // nghttp does not wait for SETTINGS: what it sends before them is refused, and none of it counted here.
        let (held, all) = try await nghttp(.announced)
        #expect(held.text.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1]"))
        #expect(all.refusedBeforeFirst == 0 && all.accepted >= 1)
    }
}
