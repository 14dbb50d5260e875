internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Passes the bytes of a feedback service to a `FeedbackStream`, and enforces the silence limit.
final class FeedbackHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let stream: FeedbackStream
    private let isCleartext: Bool
    private let silenceLimit: TimeAmount
    private let ready: EventLoopPromise<FeedbackStream>
    private var isOpen = false
    /// Runs only while a read is pending: our own slowness is not the service's silence.
    private var silence: Scheduled<Void>?

    init(
        stream: FeedbackStream, isCleartext: Bool, silenceLimit: TimeAmount, ready: EventLoopPromise<FeedbackStream>
    ) {
        self.stream = stream
        self.isCleartext = isCleartext
        self.silenceLimit = silenceLimit
        self.ready = ready
    }

    func channelActive(context: ChannelHandlerContext) {
        if isCleartext { open(context) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { open(context) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Reads from now on whenever the stream is read.
    private func open(_ context: ChannelHandlerContext) {
        guard !isOpen else { return }
        isOpen = true
        do {
            guard let options = context.channel.syncOptions else { throw ChannelError.operationUnsupported }
            try options.setOption(.autoRead, value: false)
            ready.succeed(stream)
        } catch {
            ready.fail(error)
        }
    }

    func read(context: ChannelHandlerContext) {
        if isOpen, silence == nil {
            silence = context.eventLoop.assumeIsolated().scheduleTask(in: silenceLimit) {
                self.stream.end(.silent)
                context.close(promise: nil)
            }
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        endSilence()
        stream.put(unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        ready.fail(error)
        if case NIOSSLError.uncleanShutdown = error {
            // Anything in between may have cut it off: nobody knows whether these were all tuples.
            stream.end(.failed("the connection broke: it ended without the close of TLS"))
        } else {
            stream.end(.failed(Dialer.cause(error)))
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endSilence()
        stream.end(.closed)
        context.fireChannelInactive()
    }

    private func endSilence() {
        silence?.cancel()
        silence = nil
    }
}
