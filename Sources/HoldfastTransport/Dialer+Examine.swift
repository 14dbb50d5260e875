package import Holdfast
package import HoldfastOpenSSL
internal import NIOCore
internal import NIOTLS

extension Dialer {
    /// What a connection came to that was made to examine a service, and on which nothing is said.
    package struct Examination: Sendable {
        /// The certificates that the service has shown, its own first; empty where none was seen.
        package var chain: [Certificate] = []
        /// The time until TLS was spoken.
        package var time: Duration?
        /// Why there is no connection.
        package var failure: ConnectError?

        package init() {}
    }

    /// Connects, waits for the end of TLS's handshake, and closes.
    package func examine() async -> Examination {
        let chain = Monitor<[Certificate]>([])
        var dialer = self
        dialer.seen = { shown in chain.withLock { $0 = shown } }
        var result = Examination()
        let start = ContinuousClock.now
        let isTLS = tls != nil
        do throws(ConnectError) {
            let channel: any Channel = try await dialer.connect(on: Self.nextLoop()) { channel, _, ready in
                try channel.pipeline.syncOperations.addHandler(HandshakeWatch(isTLS: isTLS, ready: ready))
            }
            result.time = ContinuousClock.now - start
            channel.close(promise: nil)
        } catch {
            result.failure = error
        }
        result.chain = chain.withLock { $0 }
        return result
    }
}

/// Completes a promise when the handshake is over; in the clear, when the channel is active.
private final class HandshakeWatch: ChannelInboundHandler {
    typealias InboundIn = Never

    private let isTLS: Bool
    private let ready: EventLoopPromise<any Channel>

    init(isTLS: Bool, ready: EventLoopPromise<any Channel>) { (self.isTLS, self.ready) = (isTLS, ready) }

    func handlerAdded(context: ChannelHandlerContext) {
        if !isTLS, context.channel.isActive { ready.succeed(context.channel) }
    }

    func channelActive(context: ChannelHandlerContext) {
        if !isTLS { ready.succeed(context.channel) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { ready.succeed(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        ready.fail(error)
        context.close(promise: nil)
    }
}
