internal import HTTPTypes
internal import HoldfastTransport
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Serves HTTP/1.1 over connections that may be dropped before they are served, as happens to those accepted during
/// shutdown.
struct AdminChannel: ServerChildChannel {
    typealias Value = AcceptedConnection<HTTPRequestPart, HTTPResponsePart>

    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(AdminHeads(), position: .after(decoder))
            return AcceptedConnection(value)
        }
    }

    func handle(value: Value, logger: Logger) async { await http.handle(value: value.take(), logger: logger) }
}

extension AcceptedConnection: ServerChildChannelValue {}
