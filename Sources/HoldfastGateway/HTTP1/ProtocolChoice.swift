internal import HoldfastTransport
internal import NIOCore
internal import NIOHTTP1
internal import NIOTLS

/// Finds out which HTTP a client speaks: by ALPN, or by its first bytes where there is no ALPN. HTTP/2 goes on to the next
/// handler unchanged; HTTP/1.1 gets a ``HTTP1Bridge`` to it. Then it leaves the pipeline.
///
/// Lives on one event loop, directly before the handler that serves HTTP/2.
final class ProtocolChoice: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    static let http1 = "http/1.1"
    /// For ALPN, the one that is preferred first.
    static let protocols = ["h2", http1]

    private let service: HTTP2IngressService
    private var isDecided = false
    /// The first bytes from the client.
    private var received = ByteBuffer()
    /// What was written before the choice: our SETTINGS, which a client of HTTP/1.1 must not see.
    private var written: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []

    init(service: HTTP2IngressService) { self.service = service }

    private static let preface = Array("PRI ".utf8)

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated?) = event {
            choose(isHTTP1: negotiated == Self.http1, context)
        }
        context.fireUserInboundEventTriggered(event)
        leave(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDecided else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        guard let isHTTP1 = Self.isHTTP1(received.readableBytesView) else { return }
        choose(isHTTP1: isHTTP1, context)
        context.fireChannelRead(wrapInboundOut(received))
        received = ByteBuffer()
        // Before the read's end: what is behind goes past this handler.
        context.fireChannelReadComplete()
        leave(context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isDecided else { return context.write(data, promise: promise) }
        written.append((unwrapOutboundIn(data), promise))
    }

    /// A connection that ends before the choice is one of HTTP/2, which has a word for the end.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if !isDecided { choose(isHTTP1: false, context) }
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for (_, promise) in written { promise?.fail(ChannelError.ioOnClosedChannel) }
        written = []
    }

    /// By the first bytes: a request of HTTP/1.1 begins with a word in capital letters, and is not HTTP/2's preface.
    ///
    /// - Returns: nil while it can't be told. False for anything else: HTTP/2 says what is wrong with it.
    private static func isHTTP1(_ bytes: ByteBufferView) -> Bool? {
        for (index, byte) in bytes.prefix(preface.count).enumerated() where byte != preface[index] {
            return bytes.first.map { (0x41...0x5a).contains($0) } ?? false
        }
        return bytes.count < preface.count ? nil : false
    }

    private func choose(isHTTP1: Bool, _ context: ChannelHandlerContext) {
        guard !isDecided else { return }
        isDecided = true
        if isHTTP1 {
            do {
                try addBridge(context)
            } catch {
                return context.close(promise: nil)
            }
        }
        let writes = written
        written = []
        for (bytes, promise) in writes {
            if isHTTP1 {
                bridge?.takeEarly(bytes)
                promise?.succeed()
            } else {
                context.write(wrapOutboundOut(bytes), promise: promise)
            }
        }
        if !isHTTP1, !writes.isEmpty { context.flush() }
    }

    private var bridge: HTTP1Bridge?

    private func addBridge(_ context: ChannelHandlerContext) throws {
        // Who ends his side behind a request waits for its answer (`nc -N`). Without it he would repeat what was taken.
        try context.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        let bridge = HTTP1Bridge(service: service)
        self.bridge = bridge
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize, limits.maxHeaderFieldCount) = (8192, 16384, 100)
        let arrival = HTTP1Arrival(bridge)
        try context.pipeline.syncOperations.addHandlers(
            [
                arrival, HTTPResponseEncoder(),
                ByteToMessageHandler(
                    HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)),
                HTTP1Arrival.Parts(arrival), HTTPServerPipelineHandler(), HTTPServerProtocolErrorHandler(), bridge,
            ], position: .after(self))
    }

    private func leave(_ context: ChannelHandlerContext) {
        guard isDecided else { return }
        bridge = nil
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
