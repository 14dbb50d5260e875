import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import NIOCore
import NIOPosix
import RawClients
import Testing

@Suite("Connections")
struct ConnectionTests {
    /// Sends bytes over plain TCP, and returns what came until the server closed; nil when it did not within ten seconds.
    private func exchange(_ bytes: [UInt8], with server: MockAPNsServer) async throws -> Int? {
        let received = Collector()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(received.handler())
                }
            }
            .connect(host: "127.0.0.1", port: server.port).get()
        if !bytes.isEmpty { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }
        let limit = channel.eventLoop.scheduleTask(in: .seconds(10)) {
            received.expire()
            channel.close(promise: nil)
        }
        try await channel.closeFuture.get()
        limit.cancel()
        return received.count
    }

    @Test("A client that speaks no TLS costs a connection, and the server goes on")
    func plaintext() async throws {
        try await withServer { server async throws in
            #expect(try await exchange(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), with: server) != nil)
            #expect(try await exchange([UInt8](repeating: 0x16, count: 10_000), with: server) != nil)
            try await eventually("both are counted") { server.counters.handshakesFailed == 2 }
            #expect(try await Curl().send(to: server).status == 200)
            #expect(server.counters.connections == 3)
        }
    }

    @Test("A client that does not choose h2 is shown the door")
    func wrongProtocol() async throws {
        try await withServer { server async throws in
            let command = try await Command.run(
                "curl",
                [
                    "-s", "-i", "--http1.1", "-m", "5", "--cacert", server.certificateAuthorityFile,
                    "https://\(server.address)/3/device/abcd",
                ])
            #expect(command.status != 0 && command.status != 28)
            #expect(command.text.isEmpty)
            try await eventually("it is counted") {
                server.counters.handshakesFailed + server.counters.protocolErrors == 1
            }
            #expect(server.counters.requests == 0)
        }
    }

    @Test("A client that does not trust the server costs a connection")
    func untrusted() async throws {
        try await withServer { server async throws in
            let command = try await Command.run("curl", ["-s", "--http2", "https://\(server.address)/3/device/abcd"])
            #expect(command.status == 60)
            try await eventually("it is counted") { server.counters.handshakesFailed == 1 }
        }
    }

    @Test("A client that says nothing is closed after the limit", arguments: [true, false])
    func silent(_ isCleartext: Bool) async throws {
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.handshakeLimit = .milliseconds(100)
            configuration.isCleartext = isCleartext
        }
        try await withServer(configure) { server async throws in
            #expect(try await exchange([], with: server) != nil)
            try await eventually("it is counted") { server.counters.handshakesFailed == 1 }
        }
    }

    @Test("Without TLS, a client that speaks no HTTP/2 gets a GOAWAY and is closed")
    func garbage() async throws {
        try await withServer {
            $0.isCleartext = true
        } _: { server async throws in
            #expect(try await exchange(Array("GET / HTTP/1.1\r\n\r\n".utf8), with: server) ?? 0 > 0)
            for _ in 0..<20 {
                // Of a frame that is too long: the rest of one that may be right would be waited for.
                let noise = [UInt8.random(in: 1 ... .max)] + (1..<500).map { _ in UInt8.random(in: .min ... .max) }
                #expect(try await exchange(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + noise, with: server) != nil)
            }
            #expect(server.counters.protocolErrors + server.counters.handshakesFailed >= 21)
            let load = try await H2Load(server, requests: 100, streams: 10, scheme: "http")
            #expect(load.succeeded == 100)
        }
    }

    @Test("A client that takes no answers is not read from for ever, and costs nothing but its connection")
    func unread() async throws {
        try await withServer {
            $0.isCleartext = true
        } _: { server async throws in
            // PINGs, whose answers are never read: the server must stop taking them or close.
            let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
            let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
            let bytes = preface + (0..<20_000).flatMap { _ in ping }
            #expect(try await exchange(bytes, with: server) != nil)
            #expect(server.counters.protocolErrors == 1)
            try await eventually("it is gone") { server.counters.openConnections == 0 }
        }
    }

    @Test("A server that says GOAWAY answers what has come, and closes")
    func goAway() async throws {
        let started = Started()
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.delay = .milliseconds(100)
            configuration.behavior = MockBehavior { request in
                if request.number == 3 { started.server?.goAway(MockGoAway(reason: "Shutdown")) }
                return nil
            }
        }
        try await withServer(configure) { server async throws in
            started.server = server
            let nghttp = try await NGHTTP(server, tokens: ["a0", "a1", "a2"])
            started.server = nil
            #expect(nghttp.count("recv HEADERS") == 3)
            #expect(nghttp.count("recv GOAWAY") == 1)
            #expect(nghttp.text.contains(#"[{"reason":"Shutdown"}]"#))
            try await eventually("the connection is gone") { server.counters.openConnections == 0 }
        }
    }

    @Test("A server that is stopped answers what it has, and goes")
    func gracefulStop() async throws {
        var configuration = MockAPNsConfiguration()
        configuration.delay = .seconds(2)
        let server = try await MockAPNsServer.start(configuration)
        async let client = NGHTTP(server, tokens: ["a0", "a1", "a2"])
        try await eventually("the requests have arrived") { server.counters.accepted == 3 }
        let start = ContinuousClock.now
        try await server.stop(within: .seconds(10))
        let elapsed = ContinuousClock.now - start
        let nghttp = try await client
        #expect(nghttp.count("recv HEADERS") == 3)
        #expect(elapsed < .seconds(8))
        #expect(server.counters.openConnections == 0)
        try await server.stop()
        await #expect(throws: NIOConnectionError.self) { _ = try await exchange([], with: server) }
    }

    @Test("A stop does not wait longer than its limit")
    func limitedStop() async throws {
        var configuration = MockAPNsConfiguration()
        configuration.delay = .seconds(600)
        let server = try await MockAPNsServer.start(configuration)
        async let client = NGHTTP(server, tokens: ["a0"])
        try await eventually("the request has arrived") { server.counters.accepted == 1 }
        let start = ContinuousClock.now
        try await server.stop(within: .milliseconds(100))
        #expect(ContinuousClock.now - start < .seconds(8))
        _ = try await client
    }

    @Test("A port that is taken keeps the server from starting, and leaves nothing behind")
    func takenPort() async throws {
        try await withServer { first async throws in
            let port = first.port
            await #expect(throws: (any Error).self) {
                try await withServer {
                    $0.port = port
                } _: { _ async throws in
                }
            }
        }
    }

    @Test("A configuration that makes no sense is refused with a word about it")
    func nonsense() async throws {
        let changes: [(inout MockAPNsConfiguration) -> Void] = [
            { $0.port = 70_000 }, { $0.eventLoopThreads = 0 }, { $0.maxConcurrentStreams = 0 },
            { $0.tokenByteCounts = 0...1 }, { $0.delay = .seconds(-1) }, { $0.names = ["not a name"] },
        ]
        for change in changes {
            await #expect(throws: (any Error).self) { try await withServer(change) { _ async throws in } }
        }
    }
}

/// The server that a behavior is to do something with, once there is one.
final class Started: @unchecked Sendable {  // `current` is touched only while `lock` is held
    private let lock = NSLock()
    private var current: MockAPNsServer?

    var server: MockAPNsServer? {
        get { lock.withLock { current } }
        set { lock.withLock { current = newValue } }
    }
}

/// Counts bytes until the connection ends.
final class Collector: @unchecked Sendable {  // both are touched only while `lock` is held
    private let lock = NSLock()
    private var bytes = 0
    private var isExpired = false

    var count: Int? { lock.withLock { isExpired ? nil : bytes } }
    func expire() { lock.withLock { isExpired = true } }

    func handler() -> Handler { Handler(self) }

    final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let collector: Collector

        init(_ collector: Collector) { self.collector = collector }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let count = unwrapInboundIn(data).readableBytes
            collector.lock.withLock { collector.bytes += count }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
