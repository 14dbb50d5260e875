import NIOCore
import NIOPosix
import NIOSSL

/// A client over TLS that writes when it may, and from then on says nothing: it does not close its side when the other does.
final class HoldingTLSClient: Sendable {
    private let channel: any Channel

    private init(_ channel: any Channel) { self.channel = channel }

    /// Returns when TLS is up.
    static func connect(port: Int, tls: TLSConfiguration, sending bytes: [UInt8]) async throws -> HoldingTLSClient {
        let context = try NIOSSLContext(configuration: tls)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
                    try pipeline.addHandler(Holder())
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        return HoldingTLSClient(channel)
    }

    // It may be closed already: it is gone either way.
    func close() async { do { try await channel.close().get() } catch {} }

    private final class Holder: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }
}
