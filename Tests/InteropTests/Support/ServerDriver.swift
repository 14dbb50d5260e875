import HoldfastHTTP2
import NIOCore
import NIOPosix

/// Our server role on a TCP port of this machine: answers 200 without a body, or what was sent to `/echo`.
final class ServerDriver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var session: HTTP2ServerSession
    private var events = HTTP2ServerEvents()
    private static let ok = HTTP2ServerSession.headerBlock(
        status: 200, [("apns-id", "5b9a7cbb-0000-4000-8000-000000000000")])

    private init(_ limits: HTTP2Limits) { session = HTTP2ServerSession(limits: limits) }

    /// Listens, and gives the port to `body`.
    static func serve<Result>(
        limits: HTTP2Limits = .server, _ body: (_ port: Int) async throws -> Result
    ) async throws -> Result {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ServerDriver(limits))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let result = try await body(channel.localAddress?.port ?? 0)
            try await channel.close().get()
            return result
        } catch {
            try await channel.close().get()
            throw error
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        write(context)
        renew(context)
    }

    /// The driver's timer; short, so that tests need not wait.
    private func renew(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(300)) {
            guard context.channel.isActive else { return }
            self.session.renewFrameBudget()
            self.write(context)
            self.renew(context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        session.receive(bytes.readableBytesUInt8Span, events: &events)
        for request in events.requests {
            if request.isTruncated {
                session.respond(streamID: request.streamID, status: 413)
            } else if events.headers(of: request).first(name: ":path") == "/echo" {
                session.respond(
                    streamID: request.streamID, status: 200, headers: [("content-length", "\(request.body.count)")],
                    body: Array(events.bodies[request.body]))
            } else {
                session.respond(streamID: request.streamID, headerBlock: Self.ok)
            }
        }
        events.removeAll()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        write(context)
        if session.failure != nil { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func write(_ context: ChannelHandlerContext) {
        guard session.hasOutput else { return }
        var buffer = context.channel.allocator.buffer(capacity: session.output.count)
        session.drainOutput(into: &buffer)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }
}
