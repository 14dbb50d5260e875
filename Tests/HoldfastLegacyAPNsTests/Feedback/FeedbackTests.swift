import Foundation
import Holdfast
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastOpenSSL
import HoldfastTesting
import NIOCore
import NIOPosix
import RawClients
import Testing

@testable import HoldfastLegacyAPNs

@Suite("The feedback service of the binary protocol", .timeLimit(.minutes(2))) struct FeedbackTests {
    @Test(
        "Two tuples with 5-byte tokens, then the connection is held open or closed: both are reported",
        arguments: [true, false], [true, false])
    func twoTuples(isHeld: Bool, isCleartext: Bool) async throws {
        let tuples = Self.tuples(2, tokenByteCount: 5)
        try await withServer(tuples, isHeld ? .holding : .normal, isCleartext: isCleartext) { server in
            let source = try source(server, isCleartext: isCleartext) { $0.silenceLimit = .milliseconds(200) }
            #expect(try await Self.read(source) == tuples)
            #expect(server.remaining.isEmpty)
            // The list is cleared by being read.
            server.setBehavior(nil)
            #expect(try await Self.read(source) == [])
        }
    }

    @Test("Tuples in pieces of any size are the same tuples, whatever their tokens' length", arguments: 1...12)
    func pieces(size: Int) async throws {
        let tuples = [1, 5, 32, 0, 100, 101, 300].flatMap { Self.tuples(2, tokenByteCount: $0) }
        try await withServer(tuples, .splitting(every: size)) { server in
            let source = try source(server)
            #expect(try await Self.read(source) == tuples)
        }
    }

    @Test(
        "Four tuples and then a reset: the error and all four, and the others the next time", arguments: [true, false])
    func reset(isCleartext: Bool) async throws {
        let tuples = Self.tuples(9)
        try await withServer(tuples, .resetting(after: 4, pause: .milliseconds(500)), isCleartext: isCleartext) {
            server in
            let journal = InMemoryJournal()
            let engine = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
            let reader = FeedbackReader(try source(server, isCleartext: isCleartext), blacklist: engine.blacklist)
            do throws(FeedbackError) {
                try await reader.read()
                Issue.record("it did not fail")
            } catch {
                #expect(error.code == .connection && error.kept == 4, "\(error)")
                #expect(error.message.contains(server.address), "\(error)")
            }
            #expect(Set(try engine.blacklist.entries().map(\.token)) == Set(tuples.prefix(4).map(\.token)))
            server.setBehavior(nil)
            #expect(try await reader.read() == 5)
            #expect(engine.blacklist.count == 9)
        }
    }

    @Test("A stream that ends in the middle of a tuple is an error, and what came before is kept") func cutOff()
        async throws
    {
        let tuples = Self.tuples(2)
        var bytes: [UInt8] = []
        for tuple in tuples { tuple.append(to: &bytes) }
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { [bytes] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LastWords(bytes: Array(bytes.dropLast())))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let source = try LegacyAPNsFeedback(.init(endpoint: .init("feedback://127.0.0.1:\(port)")))
        let seen = Monitor<[FeedbackTuple]>([])
        let error = await #expect(throws: FeedbackError.self) {
            try await source.read { batch throws(FeedbackError) in seen.withLock { $0 += batch } }
        }
        #expect(error?.code == .malformed && error?.message.contains("middle of a tuple") == true)
        #expect(seen.withLock { $0 } == [tuples[0]])
        try await listener.close()
    }

    @Test("A stream over TLS that is cut off between two tuples is a broken connection, and what came before is kept")
    func withoutClose() async throws {
        let tuples = Self.tuples(3)
        try await withServer(tuples, .holding) { server in
            let relay = try await Relay.start(to: server.port)
            let source = try source(server) {
                $0.endpoint = try .init("feedback+tls://127.0.0.1:\(relay.port)")
                $0.silenceLimit = .seconds(60)
            }
            let seen = Monitor<[FeedbackTuple]>([])
            let error = await #expect(throws: FeedbackError.self) {
                try await source.read { batch throws(FeedbackError) in
                    seen.withLock { $0 += batch }
                    if seen.withLock({ $0.count }) == tuples.count { relay.cut() }
                }
            }
            #expect(
                error?.code == .connection && error?.message.contains("connection broke") == true, "\(error as Any)")
            #expect(seen.withLock { $0 } == tuples)
            try await relay.stop()
        }
    }

    @Test("What does not listen, and a certificate that is not trusted, are named") func unreachable() async throws {
        let journal = InMemoryJournal()
        let engine = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
        try await withServer([]) { server in
            var configuration = LegacyAPNsFeedback.Configuration(
                endpoint: try .init("feedback+tls://127.0.0.1:\(server.port)"))
            configuration.connectDeadline = .seconds(5)
            let untrusting = try LegacyAPNsFeedback(configuration)
            let error = await #expect(throws: FeedbackError.self) {
                try await FeedbackReader(untrusting, blacklist: engine.blacklist).read()
            }
            #expect(error?.code == .configuration && error?.message.contains("not trusted") == true, "\(error as Any)")
            // In memory: its file goes with it.
            let trust = try Data(contentsOf: URL(fileURLWithPath: server.certificateAuthorityFile))
            let gone = try source(server) { $0.trust = .pem(Array(trust)) }
            try await server.stop()
            let refused = await #expect(throws: FeedbackError.self) {
                try await FeedbackReader(gone, blacklist: engine.blacklist).read()
            }
            #expect(refused?.code == .connection && refused?.message.contains("refused") == true, "\(refused as Any)")
        }
    }

    @Test("A client certificate is shown where one is set") func clientCertificate() async throws {
        let tuples = Self.tuples(3)
        try await withServer(tuples, requiresClientCertificate: true) { server in
            let unknown = try source(server)
            await #expect(throws: FeedbackError.self) { try await Self.read(unknown) }
            let known = try source(server) {
                $0.clientCertificate = .pem(certificates: server.clientCertificateFile, key: server.clientKeyFile)
            }
            #expect(try await Self.read(known) == tuples)
        }
    }

    @Test("Certificates are read for each reading: what is renewed is used by the next") func renewed() async throws {
        let tuples = Self.tuples(3)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("feedback-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("ca.pem")
        try await withServer(tuples) { server in
            try Data(try CertificateAuthority(commonName: "Another").certificate.pem()).write(to: file)
            let source = try source(server) { $0.trust = .file(file.path) }
            let untrusted = await #expect(throws: FeedbackError.self) { try await Self.read(source) }
            #expect(untrusted?.code == .configuration)
            try FileManager.default.removeItem(at: file)
            let missing = await #expect(throws: FeedbackError.self) { try await Self.read(source) }
            #expect(missing?.code == .configuration && missing?.message.contains(file.path) == true)
            try FileManager.default.copyItem(atPath: server.certificateAuthorityFile, toPath: file.path)
            #expect(try await Self.read(source) == tuples)
        }
    }

    @Test("A reading that is cancelled keeps what it has read, and ends") func cancelled() async throws {
        let tuples = Self.tuples(3)
        try await withServer(tuples, .holding) { server in
            let source = try source(server) { $0.silenceLimit = .seconds(600) }
            let seen = Monitor<[FeedbackTuple]>([])
            let reading = Task {
                try await source.read { batch throws(FeedbackError) in seen.withLock { $0 += batch } }
            }
            let isRead = await Self.waitUntil { seen.withLock { $0.count } == 3 }
            #expect(isRead)
            reading.cancel()
            try await reading.value
            #expect(seen.withLock { $0 } == tuples)
        }
    }

    @Test("Endpoints are read as they are meant") func endpoints() throws {
        #expect(try LegacyAPNsFeedbackEndpoint("feedback+tls://h").description == "feedback+tls://h:2196")
        #expect(try LegacyAPNsFeedbackEndpoint("feedback://[::1]:7").description == "feedback://[::1]:7")
        for wrong in ["binary+tls://h", "feedback://example.com", "feedback+tls://", "feedback+tls://h:0", "h:2196"] {
            #expect(throws: LegacyAPNsConfigurationError.self) { try LegacyAPNsFeedbackEndpoint(wrong) }
        }
    }

    // MARK: Support

    private static func tuples(_ count: Int, tokenByteCount: Int = 32) -> [FeedbackTuple] {
        (0..<count).map { number in
            FeedbackTuple(
                tokenBytes: (0..<tokenByteCount).map { UInt8(($0 + number) % 251) },
                since: WallTime(seconds: 1_600_000_000 + Int64(number)))
        }
    }

    private static func read(_ source: LegacyAPNsFeedback) async throws -> [FeedbackTuple] {
        let seen = Monitor<[FeedbackTuple]>([])
        try await source.read { batch throws(FeedbackError) in seen.withLock { $0 += batch } }
        return seen.withLock { $0 }
    }

    private static func waitUntil(_ condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return false }
        }
        return true
    }

    private func source(
        _ server: MockFeedbackServer, isCleartext: Bool = false,
        change: (inout LegacyAPNsFeedback.Configuration) throws -> Void = { _ in }
    ) throws -> LegacyAPNsFeedback {
        let scheme = isCleartext ? "feedback" : "feedback+tls"
        var configuration = LegacyAPNsFeedback.Configuration(
            endpoint: try .init("\(scheme)://127.0.0.1:\(server.port)"),
            trust: isCleartext ? .system : .file(server.certificateAuthorityFile))
        try change(&configuration)
        return try LegacyAPNsFeedback(configuration)
    }

    private func withServer(
        _ tuples: [FeedbackTuple], _ behavior: MockFeedbackBehavior? = nil, isCleartext: Bool = false,
        requiresClientCertificate: Bool = false, _ body: (MockFeedbackServer) async throws -> Void
    ) async throws {
        var configuration = MockFeedbackConfiguration()
        configuration.isCleartext = isCleartext
        configuration.requiresClientCertificate = requiresClientCertificate
        configuration.tuples = tuples.map {
            MockFeedbackTuple(time: UInt32($0.since.seconds), token: $0.tokenBytes)
        }
        configuration.behavior = behavior
        let server = try await MockFeedbackServer.start(configuration)
        do {
            try await body(server)
        } catch {
            try await server.stop()
            throw error
        }
        try await server.stop()
    }
}

/// Says something, and closes.
private final class LastWords: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        context.close(promise: nil)
    }
}

/// Passes bytes on both ways, until it is told to cut the connection off with a FIN.
private final class Relay: Sendable {
    let port: Int
    private let listener: any Channel
    private let accepted: Monitor<[any Channel]>

    private init(_ listener: any Channel, _ accepted: Monitor<[any Channel]>) {
        self.listener = listener
        self.accepted = accepted
        port = listener.localAddress?.port ?? 0
    }

    static func start(to port: Int) async throws -> Relay {
        let accepted = Monitor<[any Channel]>([])
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { client in
                accepted.withLock { $0.append(client) }
                return ClientBootstrap(group: client.eventLoop)
                    .channelInitializer { server in
                        server.eventLoop.makeCompletedFuture {
                            try server.pipeline.syncOperations.addHandler(Carrier(to: client))
                        }
                    }
                    .connect(host: "127.0.0.1", port: port)
                    .flatMapThrowing { try client.pipeline.syncOperations.addHandler(Carrier(to: $0)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return Relay(listener, accepted)
    }

    /// Closes what was accepted, without a word of TLS.
    func cut() {
        for channel in accepted.withLock({ $0 }) { channel.close(promise: nil) }
    }

    func stop() async throws {
        cut()
        try await listener.close()
    }
}
