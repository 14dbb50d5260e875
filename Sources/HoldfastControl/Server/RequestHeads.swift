internal import NIOCore
internal import NIOHTTP1

/// Puts the heads of requests into the one shape that the handlers behind it understand.
///
/// - `Connection` says `close` exactly where the client expects the connection to end: in HTTP/1.0 without `keep-alive`, and
///   however `close` is written.
/// - `Host` is there once, or not at all. Of two, one might be the page's that leads a proxy here.
final class RequestHeads: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let isLast = !head.isKeepAlive
        head.headers.remove(name: "Connection")
        if isLast { head.headers.add(name: "Connection", value: "close") }
        if head.headers["Host"].count > 1 { head.headers.remove(name: "Host") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
