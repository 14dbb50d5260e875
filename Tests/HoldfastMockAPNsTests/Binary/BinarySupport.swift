import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// Runs `body` with a server, and stops it whatever happens.
@discardableResult
func withBinaryServer<R>(
    _ configuration: MockBinaryConfiguration = MockBinaryConfiguration(), _ body: (MockBinaryServer) async throws -> R
) async throws -> R {
    let server = try await MockBinaryServer.start(configuration)
    let result: R
    do {
        result = try await body(server)
    } catch {
        try await server.stop(within: .seconds(1))
        throw error
    }
    try await server.stop(within: .seconds(5))
    return result
}

extension MockBinaryConfiguration {
    static func with(_ change: (inout MockBinaryConfiguration) -> Void) -> MockBinaryConfiguration {
        var configuration = MockBinaryConfiguration()
        change(&configuration)
        return configuration
    }
}

/// Notifications as bytes, written down from Apple's description.
enum Wire {
    static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

    /// Each number its own token.
    static func token(_ number: Int) -> [UInt8] { [UInt8](repeating: 0xAB, count: 28) + big(number, 4) }

    static func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    static func simple(token: [UInt8], payload: [UInt8] = payload) -> [UInt8] {
        [0] + big(token.count, 2) + token + big(payload.count, 2) + payload
    }

    static func enhanced(
        _ identifier: Int, token: [UInt8]? = nil, payload: [UInt8] = payload, expiration: Int = 0
    ) -> [UInt8] {
        let token = token ?? Wire.token(identifier)
        return [1] + big(identifier, 4) + big(expiration, 4) + big(token.count, 2) + token + big(payload.count, 2)
            + payload
    }

    static func item(_ number: UInt8, _ data: [UInt8]) -> [UInt8] { [number] + big(data.count, 2) + data }

    static func frame(_ items: [[UInt8]]) -> [UInt8] {
        let bytes = items.flatMap { $0 }
        return [2] + big(bytes.count, 4) + bytes
    }

    /// Command 2 with all items, the identifier first.
    static func full(_ identifier: Int, token: [UInt8]? = nil, payload: [UInt8] = payload) -> [UInt8] {
        frame([
            item(3, big(identifier, 4)), item(1, token ?? Wire.token(identifier)), item(2, payload),
            item(4, big(1_798_761_600, 4)), item(5, [10]),
        ])
    }

    static func barrier(_ identifier: Int) -> [UInt8] { full(identifier, token: []) }

    static func error(_ status: UInt8, _ identifier: Int) -> [UInt8] { [8, status] + big(identifier, 4) }
}

/// A client that writes what it is told, and keeps what it hears.
final class BinaryClient: Sendable {
    private let channel: any Channel
    private let heard: Heard

    /// - Parameters:
    ///   - authority: the CA file; nil for cleartext.
    ///   - identity: certificate and key files.
    init(port: Int, authority: String? = nil, identity: (certificate: String, key: String)? = nil) async throws {
        let heard = Heard()
        self.heard = heard
        let context = try authority.map { try Self.context(authority: $0, identity: identity) }
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context {
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    }
                    try pipeline.addHandler(Listener(heard))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    convenience init(_ server: MockBinaryServer, tls: Bool = false) async throws {
        try await self.init(port: server.port, authority: tls ? server.certificateAuthorityFile : nil)
    }

    /// What a client hears that is perhaps sent away so soon that it never connects.
    static func heard(port: Int, authority: String) async throws -> [UInt8] {
        do {
            return try await BinaryClient(port: port, authority: authority).everything()
        } catch let error as NIOConnectionError {
            #expect("\(error)".contains("reset"))
            return []
        }
    }

    private static func context(
        authority: String, identity: (certificate: String, key: String)?
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(authority)
        if let identity {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(identity.certificate)
                .map { .certificate($0) }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: identity.key, format: .pem))
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Does not wait: what is behind an error may never be written.
    func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    var bytes: [UInt8] { heard.bytes }
    /// How many bytes each read brought.
    var reads: [Int] { heard.reads }
    var isOver: Bool { heard.isOver }
    var wasReset: Bool { heard.wasReset }

    /// All that the server said until the connection ended.
    func everything(sourceLocation: SourceLocation = #_sourceLocation) async throws -> [UInt8] {
        try await eventually("the connection ends", sourceLocation: sourceLocation) { self.isOver }
        return bytes
    }

    var isWritable: Bool { channel.isWritable }

    func close() { channel.close(promise: nil) }

    final class Heard: @unchecked Sendable {  // the variables are touched only while `lock` is held
        private let lock = NSLock()
        private var state = (bytes: [UInt8](), reads: [Int](), isOver: false, wasReset: false)

        var bytes: [UInt8] { lock.withLock { state.bytes } }
        var reads: [Int] { lock.withLock { state.reads } }
        var isOver: Bool { lock.withLock { state.isOver } }
        var wasReset: Bool { lock.withLock { state.wasReset } }

        func add(_ bytes: [UInt8]) {
            lock.withLock {
                state.bytes += bytes
                state.reads.append(bytes.count)
            }
        }
        func reset() { lock.withLock { state.wasReset = true } }
        func end() { lock.withLock { state.isOver = true } }
    }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let heard: Heard

        init(_ heard: Heard) { self.heard = heard }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            heard.add(Array(unwrapInboundIn(data).readableBytesView))
        }

        func channelInactive(context: ChannelHandlerContext) { heard.end() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if (error as? IOError)?.errnoCode == ECONNRESET { heard.reset() }
            context.close(promise: nil)
        }
    }
}

/// What an observer has seen, on whatever thread.
final class SeenBinary: @unchecked Sendable {  // `all` is touched only while `lock` is held
    private let lock = NSLock()
    private var all: [MockBinaryExchange] = []

    func add(_ exchanges: [MockBinaryExchange]) { lock.withLock { all += exchanges } }
    var exchanges: [MockBinaryExchange] { lock.withLock { all } }
}

/// Knuth's generator (TAOCP 3.3.4), so that a test is the same each time.
struct FixedGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 32 | state << 32
    }
}
