internal import HTTPTypes
internal import HoldfastTransport
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTPTypes

/// Serves HTTP/1.1 over connections that may be dropped before they are served, as happens to those accepted during
/// shutdown.
struct AdminChannel: ServerChildChannel {
    typealias Value = AcceptedConnection<HTTPRequestPart, HTTPResponsePart>

    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http.setup(channel: channel, logger: logger).map { AcceptedConnection($0) }
    }

    func handle(value: Value, logger: Logger) async { await http.handle(value: value.take(), logger: logger) }
}

extension AcceptedConnection: ServerChildChannelValue {}
