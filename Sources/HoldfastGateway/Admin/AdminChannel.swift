internal import HoldfastListening
internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// Serves HTTP/1.1 over connections that may be dropped before they are served, as those are that come while the server ends.
struct AdminChannel: ServerChildChannel {
    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        channel.eventLoop.makeCompletedFuture { try AcceptedConnection(channel) }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        do {
            let connection = try await value.open { channel in http.setup(channel: channel, logger: logger) }
            await http.handle(value: connection, logger: logger)
        } catch {
            logger.trace("a connection ended before it was served: \(error)")
        }
    }
}

extension AcceptedConnection: ServerChildChannelValue {}
