import Foundation
import Holdfast
import HoldfastTesting
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import HoldfastGateway

/// The operators' page, over sockets of the test's own.
@Suite("The operators' page")
struct AdminTests {
    /// A server that runs for as long as a test looks at it.
    private func serving(
        _ change: (inout AdminConfiguration) -> Void = { _ in }, health: Monitor<Health> = Monitor(Health()),
        _ body: (Int) async throws -> Void
    ) async throws {
        var configuration = AdminConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        change(&configuration)
        let server = try AdminServer(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            health: { health.withLock { $0 } }, metrics: { "x 1\n" })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await server.run() }
            let deadline = ContinuousClock.now + .seconds(10)
            while server.address == nil, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
            try await body(try #require(server.address).port)
            tasks.cancelAll()
        }
    }

    /// Everything that comes back until the server closes, or nothing more comes for a moment.
    private func say(_ request: String, to port: Int, limit: Duration = .seconds(10)) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let timer = channel.channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            channel.channel.close(promise: nil)
        }
        defer { timer.cancel() }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var answer = ""
            do { for try await part in inbound { answer += String(buffer: part) } } catch {}
            return answer
        }
    }

    private func get(_ path: String, _ port: Int) async throws -> String {
        try await say("GET \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", to: port)
    }

    @Test("A process that turns is alive; it is ready, or says all that keeps it from being so")
    func health() async throws {
        let health = Monitor(Health())
        try await serving(health: health) { port in
            #expect(try await get("/health/live", port).hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(try await get("/health/ready", port).hasSuffix("\r\n\r\nready\n"))
            health.withLock { $0 = Health(warnings: ["one entry is in quarantine"]) }
            let warned = try await get("/health/ready", port)
            #expect(warned.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(warned)")
            #expect(warned.hasSuffix("\r\n\r\nready\nwarning: one entry is in quarantine\n"))
            health.withLock { $0 = Health(obstacles: ["the journal is full", "ending"]) }
            let answer = try await get("/health/ready", port)
            #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(answer)")
            #expect(answer.hasSuffix("\r\n\r\nnot ready: the journal is full\nnot ready: ending\n"))
            #expect(try await get("/health/live", port).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("Metrics are text of version 0.0.4, and nothing else is there, to be read or to be changed")
    func metrics() async throws {
        try await serving { port in
            let answer = try await get("/metrics", port).lowercased()
            #expect(answer.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "\(answer)")
            #expect(answer.hasSuffix("\r\n\r\nx 1\n"))
            #expect(try await get("/", port).hasPrefix("HTTP/1.1 404 "))
            let posted = try await say(
                "POST /metrics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", to: port)
            #expect(posted.hasPrefix("HTTP/1.1 405 ") && posted.lowercased().contains("allow: get, head"), "\(posted)")
        }
    }

    @Test("A head beyond its bound, and what is no HTTP, are refused and closed")
    func garbage() async throws {
        try await serving { port in
            let long = String(repeating: "a", count: 9000)
            let refused = try await say("GET /metrics HTTP/1.1\r\nhost: localhost\r\nx: \(long)\r\n\r\n", to: port)
            #expect(refused.hasPrefix("HTTP/1.1 4"), "\(refused.prefix(100))")
            let garbage = try await say("\u{1}\u{2}\u{3}garbage\r\n\r\n", to: port)
            #expect(garbage.isEmpty || garbage.hasPrefix("HTTP/1.1 4"), "\(garbage.prefix(100))")
            #expect(try await get("/health/live", port).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test(
        "Whoever does not say what is wanted in time is closed: without a head, within one, and without the rest of a body"
    )
    func slow() async throws {
        let configure: (inout AdminConfiguration) -> Void = { configuration in
            configuration.idle = .milliseconds(200)
            configuration.request = .milliseconds(200)
        }
        try await serving(configure) { port in
            for beginning in [
                "", "GET /metrics HT", "GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n",
                "POST /metrics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc",
            ] {
                let start = ContinuousClock.now
                _ = try await say(beginning, to: port, limit: .seconds(20))
                #expect(ContinuousClock.now - start < .seconds(10), "\(beginning.debugDescription) was not closed")
            }
        }
    }

    @Test("Where there are as many connections as may be, the one that is idle for longest gives way to another")
    func connections() async throws {
        let configure: (inout AdminConfiguration) -> Void = { $0.connections = 2 }
        try await serving(configure) { port in
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            let older = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            try await older.writeAndFlush(ByteBuffer(string: "GET /health/li")).get()
            let (answers, answered) = AsyncStream.makeStream(of: Void.self)
            let newer = try await bootstrap.channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(answered))
                }
            }.connect(host: "127.0.0.1", port: port).get()
            // Both are known to the server, and the newer one has spoken last, once it is answered.
            try await newer.writeAndFlush(ByteBuffer(string: "GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"))
                .get()
            for await _ in answers { break }
            for _ in 0..<10 { #expect(try await get("/health/live", port).hasPrefix("HTTP/1.1 200 OK\r\n")) }
            try await older.closeFuture.get()
            if newer.isActive { try await newer.close() }
        }
    }

    @Test("HEAD is answered as GET is, without the body") func head() async throws {
        try await serving { port in
            for path in ["/health/live", "/health/ready", "/metrics"] {
                let answer = try await say(
                    "HEAD \(path) HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", to: port)
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
            }
        }
    }

    @Test("A name that is not this machine's own is refused, where everybody is not meant")
    func rebinding() async throws {
        func ask(_ host: String, _ port: Int) async throws -> String {
            try await say("GET /metrics HTTP/1.1\r\nhost: \(host)\r\nconnection: close\r\n\r\n", to: port)
        }
        try await serving { port in
            for host in [
                "evil.example", "evil.example:\(port)", "localhost.evil.example", "127.0.0.1.evil.example", "x",
                "localhost:evil", "[::1]:evil", "[::1]evil.example", "127.0.0.1:80:evil",
            ] {
                let answer = try await ask(host, port)
                #expect(answer.hasPrefix("HTTP/1.1 421 ") && !answer.contains("x 1"), "\(host): \(answer)")
            }
            for host in ["localhost", "LocalHost:\(port)", "127.0.0.1:\(port)", "[::1]:\(port)", "10.1.2.3"] {
                #expect(try await ask(host, port).hasPrefix("HTTP/1.1 200 OK\r\n"), "\(host)")
            }
        }
        let everybody: (inout AdminConfiguration) -> Void = { $0.servesEverybody = true }
        try await serving(everybody) { port in
            let answer = try await ask("push.example.net", port)
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("A request that does not say plainly for whom it is, is refused, and a target that names a host is the host")
    func unclear() async throws {
        func ask(_ target: String, _ fields: [String], _ port: Int, version: String = "1.1") async throws -> String {
            let lines = ["GET \(target) HTTP/\(version)"] + fields + ["connection: close", "", ""]
            return String(try await say(lines.joined(separator: "\r\n"), to: port).dropFirst(9).prefix(3))
        }
        let (local, evil) = ("host: localhost", "host: evil.example")
        let unclear: [[String]] = [[], [local, evil], [evil, local], [local, local]]
        try await serving { port in
            for fields in unclear {
                for target in ["/metrics", "http://localhost/metrics"] {
                    let status = try await ask(target, fields, port)
                    #expect(status == "400", "\(target) \(fields)")
                }
            }
            #expect(try await ask("/metrics", ["host:"], port) == "400")
            for target in ["http://evil.example/metrics", "http://localhost@evil.example/", "x://evil.example?a=/"] {
                let statuses = (try await ask(target, [local], port), try await ask(target, [], port, version: "1.0"))
                #expect(statuses == ("421", "421"), "\(target)")
            }
            #expect(try await ask("http:///metrics", [local], port) == "400")
            #expect(try await ask("http://127.0.0.1:\(port)/metrics", [evil], port) == "200")
            #expect(try await ask("/metrics?from=http://evil.example/", [local], port) == "200")
            // As simple probes ask.
            #expect(try await ask("/health/live", [], port, version: "1.0") == "200")
        }
        let everybody: (inout AdminConfiguration) -> Void = { $0.servesEverybody = true }
        try await serving(everybody) { port in
            let statuses = (
                try await ask("/metrics", [local, evil], port), try await ask("/metrics", [evil], port)
            )
            #expect(statuses == ("400", "200"))
        }
    }

    /// Connects and asks again and again, until nobody listens any more.
    ///
    /// - Parameter tell: called after each answer, or connection that was closed without one.
    private func press(_ port: Int, _ tell: @escaping @Sendable () -> Void) async {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        while true {
            do {
                let client = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
                client.writeAndFlush(
                    ByteBuffer(string: "GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"),
                    promise: nil)
                try await client.closeFuture.get()
            } catch {
                return
            }
            tell()
        }
    }

    @Test("It ends at any moment, whoever is just connecting", .timeLimit(.minutes(1)))
    func endsUnderLoad() async throws {
        for _ in 0..<50 {
            let (answers, clients) = (Monitor(0), Monitor<[Task<Void, Never>]>([]))
            try await serving { port in
                for _ in 0..<4 {
                    let client = Task { await press(port) { answers.withLock { $0 += 1 } } }
                    clients.withLock { $0.append(client) }
                }
                #expect(await Patience(.seconds(10)).wait { answers.withLock { $0 } > 8 })
            }
            for client in clients.withLock({ $0 }) { await client.value }
        }
    }

    @Test("An address that others reach is refused unless they are meant; one that is taken is named")
    func addresses() async throws {
        let everywhere = ListenAddress(host: "0.0.0.0", port: 0)
        #expect(throws: GatewayError.self) {
            try AdminServer(AdminConfiguration(listen: everywhere), health: { Health() }, metrics: { "" })
        }
        try await serving { port in
            let taken = ListenAddress(host: "127.0.0.1", port: port)
            let second = try AdminServer(
                AdminConfiguration(listen: taken), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                health: { Health() }, metrics: { "" })
            let error = await #expect(throws: GatewayError.self) { try await second.run() }
            #expect(error?.kind == .cannotListen && error?.message.contains("\(port)") == true)
        }
    }
}

/// Tells that something came.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let came: AsyncStream<Void>.Continuation

    init(_ came: AsyncStream<Void>.Continuation) { self.came = came }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { came.yield() }
}
