internal import NIOCore
internal import NIOTLS

/// The host name that a client asks TLS for (SNI). Sent through the pipeline before the handshake.
struct ServerName: Sendable {
    let host: String

    /// Reads it from the client's first record, and is gone then. Goes before TLS. A first message in several records, or
    /// anything that is none, has no name; what it is worth, TLS says.
    static func reader(for channel: any Channel) -> any ChannelHandler {
        ByteToMessageHandler(
            SNIHandler { result in
                if case .hostname(let host) = result {
                    channel.pipeline.fireUserInboundEventTriggered(ServerName(host: host))
                }
                return channel.eventLoop.makeSucceededVoidFuture()
            })
    }
}
