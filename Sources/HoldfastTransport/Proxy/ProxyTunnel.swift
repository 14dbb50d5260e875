internal import Foundation
internal import Holdfast
internal import NIOCore
internal import NIOExtras
internal import NIOHTTP1

/// Gets a channel that is connected to a proxy through to the service.
struct ProxyTunnel: Sendable {
    let proxy: ProxyServer
    let target: ProxyTarget

    /// Opens the tunnel. On the loop, in the channel's initializer.
    ///
    /// - Parameter then: called on the loop when the service is at the other end: adds the handlers for it.
    /// - Returns: when that is done; or a ``ConnectError`` that names the proxy.
    func open(
        on channel: any Channel, until deadline: NIODeadline, then: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<Void> {
        let open =
            proxy.kind == .http
            ? connect(on: channel, until: deadline, then: then) : socks(on: channel, then: then)
        return open.flatMapErrorThrowing { error in throw describe(error) }
    }

    private func socks(
        on channel: any Channel, then: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<Void> {
        let established = channel.eventLoop.makePromise(of: Void.self)
        let handler = SOCKSHandler(SOCKSHandshake(proxy, target: target), established: established)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            established.fail(error)
        }
        return established.futureResult.flatMapThrowing { try then(channel) }
    }

    private func connect(
        on channel: any Channel, until deadline: NIODeadline, then: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<Void> {
        let established = channel.eventLoop.makePromise(of: Void.self)
        let pipeline = channel.pipeline.syncOperations
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
        let status = ProxyStatus()
        let authority = authority
        var headers = HTTPHeaders([("host", HostAndPort.text(host: authority.host, port: authority.port))])
        if let user = proxy.user {
            let login = Data("\(user):\(proxy.password ?? "")".utf8).base64EncodedString()
            headers.add(name: "proxy-authorization", value: "Basic \(login)")
        }
        let connect = NIOHTTP1ProxyConnectHandler(
            targetHost: authority.host.contains(":") ? "[\(authority.host)]" : authority.host,
            targetPort: authority.port, headers: headers, deadline: deadline, promise: established)
        do {
            try pipeline.addHandlers([encoder, decoder, status, connect])
        } catch {
            established.fail(error)
        }
        let handlers = NIOLoopBound((encoder, decoder, status), eventLoop: channel.eventLoop)
        return established.futureResult.flatMap {
            let pipeline = channel.pipeline.syncOperations
            let (encoder, decoder, status) = handlers.value
            // All of HTTP goes before TLS comes, whose bytes mean nothing to it. Nothing is lost: a service that is spoken
            // to in TLS waits for our first word.
            _ = pipeline.removeHandler(encoder)
            _ = pipeline.removeHandler(status)
            return pipeline.removeHandler(decoder)
        }.flatMapThrowing {
            try then(channel)
        }.flatMapErrorThrowing { error in
            guard let code = handlers.value.2.code else { throw error }
            throw Self.refusal(code, hasUser: proxy.user != nil)
        }
    }

    private var authority: (host: String, port: Int) {
        switch target {
        case .name(let name, let port): (name, port)
        // An HTTP proxy is given the endpoint's own text.
        case .address(let bytes, let port): (bytes.map(String.init).joined(separator: "."), port)
        }
    }

    // MARK: Words

    private static func refusal(_ status: Int, hasUser: Bool) -> any Error {
        switch status {
        case 200..<300:
            SOCKSHandshake.Refusal(kind: .temporary, why: "does not speak HTTP as it should")
        case 407:
            SOCKSHandshake.Refusal(
                kind: .configuration,
                why: hasUser
                    ? "does not know this user and password (status 407)"
                    : "wants to know who we are (status 407), and no user is configured")
        default:
            SOCKSHandshake.Refusal(kind: .temporary, why: "does not connect to the service: status \(status)")
        }
    }

    private func describe(_ error: any Error) -> any Error {
        if let refusal = error as? SOCKSHandshake.Refusal {
            return ConnectError(refusal.kind, "the proxy \(proxy) \(refusal.why)")
        }
        // The service's own trouble, once it is at the other end.
        guard error is NIOHTTP1ProxyConnectHandler.Error || error is HTTPParserError else { return error }
        return ConnectError(
            .temporary, "the proxy \(proxy) closed the connection, or does not speak HTTP as it should")
    }
}

/// Notes the status of a proxy's answer: the handler of NIOExtras keeps it to itself.
private final class ProxyStatus: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    private(set) var code: Int?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { code = Int(head.status.code) }
        context.fireChannelRead(data)
    }

    /// Bytes that are no HTTP end the wait.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
