import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastTesting
@testable import HoldfastTransport

/// The connector through proxies that were written for these tests, and read the protocols in their own way.
@Suite("Through a proxy", .timeLimit(.minutes(1))) struct ProxyTests {
    /// Reads a whole request of its protocol, and joins what it names if who asks is `me` with `secret`.
    private static func proxy(_ kind: ProxyServer.Kind, asked: Monitor<[String]> = Monitor([])) -> TestPeer.Turn {
        { conversation in
            switch kind {
            case .http: http(conversation, asked)
            case .socks5: socks5(conversation, asked)
            case .socks4, .socks4a: socks4(conversation, asked)
            }
        }
    }

    private static func http(_ conversation: Conversation, _ asked: Monitor<[String]>) {
        let text = String(decoding: conversation.received, as: UTF8.self)
        guard text.hasSuffix("\r\n\r\n") else { return }
        conversation.received = []
        let lines = text.split(separator: "\r\n").map(String.init)
        let words = lines[0].split(separator: " ").map(String.init)
        // me:secret
        guard lines.contains(where: { $0.lowercased() == "proxy-authorization: basic bwu6c2vjcmv0" }) else {
            let who = "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
            return conversation.write(Array(who.utf8))
        }
        asked.withLock { $0.append(words[1]) }
        guard words[0] == "CONNECT", let port = words[1].split(separator: ":").last.flatMap({ Int($0) }), port != 9
        else {
            conversation.write(Array("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".utf8))
            return
        }
        conversation.join(port: port, greeting: Array("HTTP/1.1 200 Tunnel\r\n\r\n".utf8))
    }

    private static func socks5(_ conversation: Conversation, _ asked: Monitor<[String]>) {
        if conversation.step == 0, let hello = conversation.take(4) {
            #expect(hello == [5, 2, 0, 2])
            conversation.step = 1
            conversation.write([5, 2])
        }
        if conversation.step == 1, conversation.received.count >= 5 {
            let login = conversation.received
            conversation.received = []
            guard login == [1, 2] + Array("me".utf8) + [6] + Array("secret".utf8) else {
                conversation.write([1, 1])
                return conversation.close()
            }
            conversation.step = 2
            conversation.write([1, 0])
        }
        if conversation.step == 2, conversation.received.count > 5 {
            let request = conversation.received
            conversation.received = []
            conversation.step = 3
            let name = String(decoding: request[5..<5 + Int(request[4])], as: UTF8.self)
            let port = Int(request[request.count - 2]) << 8 | Int(request[request.count - 1])
            asked.withLock { $0.append("\(name):\(port)") }
            guard port != 9 else { return conversation.write([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]) }
            conversation.join(port: port, greeting: [5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
        }
    }

    private static func socks4(_ conversation: Conversation, _ asked: Monitor<[String]>) {
        let request = conversation.received
        guard request.count > 8, request.last == 0 else { return }
        conversation.received = []
        let port = Int(request[2]) << 8 | Int(request[3])
        let texts = request[8...].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        guard texts.first == "me" else { return conversation.write([0, 0x5D, 0, 0, 0, 0, 0, 0]) }
        let host = texts.count > 1 ? texts[1] : request[4..<8].map(String.init).joined(separator: ".")
        asked.withLock { $0.append("\(host):\(port)") }
        guard port != 9 else { return conversation.write([0, 0x5B, 0, 0, 0, 0, 0, 0]) }
        conversation.join(port: port, greeting: [0, 0x5A, 0, 0, 0, 0, 0, 0])
    }

    private static func login(_ kind: ProxyServer.Kind) -> String {
        kind == .socks4 || kind == .socks4a ? "me" : "me:secret"
    }

    private func configuration(_ mock: MockAPNsServer, proxy: String) throws -> APNsConnector.Configuration {
        var configuration = try APNsConnector.Configuration(mock, host: "localhost")
        configuration.proxy = try ProxyServer(proxy)
        return configuration
    }

    @Test("Notifications go through, and only SOCKS 4 has the name resolved here", arguments: ProxyServer.Kind.allCases)
    func delivers(_ kind: ProxyServer.Kind) async throws {
        let mock = try await MockAPNsServer.start()
        let asked = Monitor<[String]>([])
        let peer = try await TestPeer.start(Self.proxy(kind, asked: asked))
        var configuration = try configuration(
            mock, proxy: "\(kind.rawValue)://\(Self.login(kind))@127.0.0.1:\(peer.port)")
        let resolver = StubResolver([("127.0.0.1", mock.port)])
        configuration.resolver = resolver
        let bench = try await WireBench(APNsConnector(configuration))
        bench.handOut(200)
        #expect(await bench.untilAnswered())
        #expect(bench.now.confirmed.count == 200)
        #expect(asked.withLock { $0 } == ["\(kind == .socks4 ? "127.0.0.1" : "localhost"):\(mock.port)"])
        #expect(resolver.count == (kind == .socks4 ? 1 : 0))
        #expect(peer.connections == 1)
        await bench.finish()
        try await peer.stop()
        try await mock.stop()
    }

    @Test("A proxy that does not know us is for the operator to mend", arguments: ProxyServer.Kind.allCases)
    func refusesUs(_ kind: ProxyServer.Kind) async throws {
        let mock = try await MockAPNsServer.start()
        let peer = try await TestPeer.start(Self.proxy(kind))
        let login = kind == .socks4 || kind == .socks4a ? "other" : "me:hunter2"
        let connector = try APNsConnector(
            configuration(mock, proxy: "\(kind.rawValue)://\(login)@127.0.0.1:\(peer.port)"))
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains("the proxy \(kind.rawValue)://127.0.0.1:\(peer.port)") == true)
        #expect(error?.message.contains("hunter2") == false)
        try await peer.stop()
        try await mock.stop()
    }

    @Test("A proxy that wants a user where none is configured says so") func wantsUser() async throws {
        let mock = try await MockAPNsServer.start()
        let peer = try await TestPeer.start(Self.proxy(.http))
        let connector = try APNsConnector(configuration(mock, proxy: "http://127.0.0.1:\(peer.port)"))
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains("no user is configured") == true)
        try await peer.stop()
        try await mock.stop()
    }

    @Test("A proxy that does not let us through to the service may do so later", arguments: ProxyServer.Kind.allCases)
    func refusesTarget(_ kind: ProxyServer.Kind) async throws {
        let peer = try await TestPeer.start(Self.proxy(kind))
        var configuration = APNsConnector.Configuration(endpoint: try APNsEndpoint("https://localhost:9"))
        configuration.proxy = try ProxyServer("\(kind.rawValue)://\(Self.login(kind))@127.0.0.1:\(peer.port)")
        configuration.resolver = StubResolver([("127.0.0.1", 9)])
        let connector = try APNsConnector(configuration)
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .temporary)
        #expect(error?.message.contains("does not connect to the service") == true)
        try await peer.stop()
    }

    @Test("A proxy that is not there, is no proxy, closes or says nothing is named, and tried again later")
    func broken() async throws {
        let closing = try await TestPeer.start { if !$0.received.isEmpty { $0.close() } }
        let strange = try await TestPeer.start {
            if !$0.received.isEmpty { $0.write(Array("hello, hello, hello\r\n\r\n".utf8)) }
        }
        let silent = try await TestPeer.start()
        let gone = try await TestPeer.start()
        try await gone.stop()
        for kind in ProxyServer.Kind.allCases {
            for peer in [closing, strange, silent, gone] {
                var configuration = APNsConnector.Configuration(endpoint: try APNsEndpoint("https://localhost:443"))
                configuration.proxy = try ProxyServer("\(kind.rawValue)://\(Self.login(kind))@127.0.0.1:\(peer.port)")
                configuration.connectDeadline = .milliseconds(300)
                configuration.resolver = StubResolver([("127.0.0.1", 443)])
                let connector = try APNsConnector(configuration)
                let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
                #expect(error?.kind == .temporary, "\(kind) \(error?.message ?? "")")
                // What ran out of time is named by the service and by the socket's other end; the rest by the proxy.
                #expect(error?.message.contains("127.0.0.1") == true, "\(kind) \(error?.message ?? "")")
                #expect(error?.message.contains("secret") == false)
            }
        }
        for peer in [closing, strange, silent] { try await peer.stop() }
    }
}
