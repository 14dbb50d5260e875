import Foundation
import Holdfast
import HoldfastTesting
import Logging
import NIOCore
import NIOPosix

@testable import HoldfastGateway

/// A gateway with the listeners that a test asks for, in front of an engine that accepts and delivers nothing.
struct BinaryGateway: Sendable {
    static let topic = "com.example.app"

    let journal: InMemoryJournal
    let engine: PushEngine
    let gateway: Gateway

    var port: Int { gateway.addresses["binary"]?.port ?? 0 }
    var figures: IngressFigures.Values { gateway.figures.first { $0.name == "binary" }?.values ?? .init() }
    /// Payloads on disk, in order.
    var payloads: [[UInt8]] { journal.entries.map(\.notification.payload) }

    /// Starts one, and drains it whatever happens.
    static func run(
        journal: InMemoryJournal = InMemoryJournal(), topics: Set<String>? = nil, patience: Duration = .seconds(30),
        uncommitted: Int = 1000, _ body: (BinaryGateway) async throws -> Void
    ) async throws {
        var binary = BinaryIngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0), topic: topic)
        binary.roomLimit = patience
        binary.uncommitted = uncommitted
        var configuration = GatewayConfiguration()
        configuration.binary = binary
        configuration.drainLimit = .seconds(5)
        try await run(configuration, journal: journal, topics: topics, body)
    }

    static func run(
        _ configuration: GatewayConfiguration, journal: InMemoryJournal = InMemoryJournal(),
        topics: Set<String>? = nil, _ body: (BinaryGateway) async throws -> Void
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: InMemoryConnector(), topics: topics)], logger: logger)
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gateway.run() }
            defer { group.cancelAll() }
            try await body(BinaryGateway(journal: journal, engine: engine, gateway: gateway))
        }
    }
}

/// A client without manners: it writes what it is told to, and keeps what comes.
final class RawClient: Sendable {
    private struct State: Sendable {
        var received: [UInt8] = []
        var hasEnded = false
    }

    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let state: Monitor<State>
        init(_ state: Monitor<State>) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            state.withLock { $0.received += bytes.readableBytesView }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        func channelInactive(context: ChannelHandlerContext) { state.withLock { $0.hasEnded = true } }
    }

    let channel: any Channel
    private let state: Monitor<State>

    init(
        port: Int, reads: Bool = true,
        before handlers: @escaping @Sendable (any Channel) throws -> [any ChannelHandler & Sendable] = { _ in [] }
    )
        async throws
    {
        let state = Monitor(State())
        self.state = state
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(handlers(channel))
                    try channel.pipeline.syncOperations.addHandler(Collector(state))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    func closeOutput() async throws { try await channel.close(mode: .output).get() }
    func close() async { do { try await channel.close().get() } catch {} }

    var hasEnded: Bool { state.withLock(\.hasEnded) }
    var received: [UInt8] { state.withLock(\.received) }

    /// Everything that comes until the peer ends the connection; nil when it does not in time.
    func untilEnd(limit: Duration = .seconds(10)) async -> [UInt8]? {
        await Patience(limit).wait { state.withLock(\.hasEnded) } ? received : nil
    }
}
