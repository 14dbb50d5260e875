import Foundation
import Holdfast
import NIOCore
import NIOPosix

/// Sends pages to a gateway of the Simple Network Paging Protocol (RFC 1861, level 1): one line for each command and reply.
public struct PagerConnector: Connector {
    /// The gateway answers each page, so silence never means success.
    public var confirmationMode: ConfirmationMode { .perNotification }

    /// Pagers alone, with the text in a small JSON object: `{"message":"Call the ward"}`.
    public var limits: NotificationLimits {
        .service(ServiceLimits(kinds: [.pager]), payload: 1024, collapseID: 0)
    }

    /// For logs, status, and the blacklist: `snpp://HOST:PORT`.
    public var endpoint: String { "snpp://\(host):\(port)" }

    private let host: String
    private let port: Int
    private let replyTimeout: Duration

    /// - Parameter replyTimeout: how long a reply may take before the connection counts as dead.
    public init(host: String, port: Int = 444, replyTimeout: Duration = .seconds(30)) {
        (self.host, self.port, self.replyTimeout) = (host, port, replyTimeout)
    }

    /// Connects, and waits for the gateway's greeting: a connection takes entries from its first moment.
    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        do {
            let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(.seconds(10))
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let session = PagerSession(channel: channel, sink: sink, replyTimeout: replyTimeout)
                        try channel.pipeline.syncOperations.addHandler(session)
                        return PagerConnection(session)
                    }
                }
            try await connection.greeted()
            return connection
        } catch {
            throw ConnectError(.temporary, "\(endpoint) takes no connection: \(error)")
        }
    }
}

extension ServiceAddress.Kind {
    /// A pager's number. Numbers from 200 on are free for connectors that Holdfast does not know.
    public static let pager = ServiceAddress.Kind(rawValue: 200)
}

/// The engine's side of a connection. What it does happens on the connection's event loop.
final class PagerConnection: Connection {
    /// One is under way, and the next ones are at hand.
    let capacity = 16
    let streams = 1

    private let session: NIOLoopBound<PagerSession>
    private let loop: any EventLoop
    private let greeting: EventLoopFuture<Void>

    init(_ session: PagerSession) {
        loop = session.channel.eventLoop
        greeting = session.greeting.futureResult
        self.session = NIOLoopBound(session, eventLoop: loop)
    }

    func greeted() async throws { try await greeting.get() }

    func send(_ handOut: HandOut) { loop.execute { self.session.value.take(handOut) } }

    func close(deadline: Duration) { loop.execute { self.session.value.close(within: deadline) } }
}
