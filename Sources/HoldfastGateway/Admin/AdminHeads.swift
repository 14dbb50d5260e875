internal import NIOCore
internal import NIOHTTP1

/// Puts the heads of requests into the one shape that ``AdminHost`` judges (RFC 9112, section 3.2).
///
/// - A target that names a host, as proxies are asked, is what the request is for, whatever `Host` says.
/// - A request of HTTP/1.1 without `Host` gets an empty one, which is refused. HTTP/1.0 has requests without one.
final class AdminHeads: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let hosts = head.headers["Host"].count
        let isOld = [.http0_9, .http1_0].contains(head.version)
        if hosts == 0, !isOld { head.headers.add(name: "Host", value: "") }
        if let (authority, target) = Self.parts(head.uri) {
            head.uri = target
            // Of a request that is malformed all the same the fields stay.
            if hosts == 1 || isOld && hosts == 0 { head.headers.replaceOrAdd(name: "Host", value: authority) }
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// The host and the path of a target that names both; nil for any other.
    static func parts(_ target: String) -> (authority: String, path: String)? {
        guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return nil }
        let rest = target[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let path = rest[end...].prefix { $0 != "#" }
        return (String(rest[..<end]), path.hasPrefix("/") ? String(path) : "/" + path)
    }
}
