internal import Holdfast
internal import HoldfastTesting
internal import NIOCore
internal import NIOPosix
package import NIOSSL

/// A client without manners: it writes what it is told to, and keeps what comes.
package final class RawClient: Sendable {
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

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        func channelInactive(context: ChannelHandlerContext) { state.withLock { $0.hasEnded = true } }
    }

    private let channel: any Channel
    private let state: Monitor<State>

    /// - Parameters:
    ///   - reads: false for one that leaves everything in its kernel, which takes little.
    ///   - tls: nil for cleartext.
    package init(port: Int, reads: Bool = true, tls: TLSConfiguration? = nil) async throws {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let state = Monitor(State())
        self.state = state
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelOption(.socketOption(.so_rcvbuf), value: reads ? 1 << 20 : 4096)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context {
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
                    }
                    try pipeline.addHandler(Collector(state))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// - Throws: when the peer has ended the connection.
    package func send(_ bytes: some Sequence<UInt8>) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    /// Does not wait until it is taken, and tells nobody when it never is.
    package func offer(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    package func closeOutput() async throws { try await channel.close(mode: .output).get() }
    // It may be closed already: it is gone either way.
    package func close() async { do { try await channel.close().get() } catch {} }

    package var hasEnded: Bool { state.withLock(\.hasEnded) }
    package var received: [UInt8] { state.withLock(\.received) }

    /// Everything that comes until the peer ends the connection; nil when it does not in time.
    package func untilEnd(limit: Duration = .seconds(10)) async -> [UInt8]? {
        await Patience(limit).wait { hasEnded } ? received : nil
    }
}
