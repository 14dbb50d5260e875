package import Holdfast
package import NIOCore
internal import NIOPosix
package import NIOSSL

/// Opens connections to one service: resolves, connects, speaks TLS, and says in words what went wrong.
package struct Dialer: Sendable {
    /// For people: `https://api.push.apple.com:443`.
    package let endpoint: String
    package let host: String
    package let port: Int
    /// Nil for cleartext.
    package let tls: NIOSSLContext?
    /// Whom `tls` trusts, for people.
    package let trust: TrustedCertificates
    /// The most that resolving, connecting, TLS and getting ready may take together.
    package let deadline: Duration

    package init(
        endpoint: String, host: String, port: Int, tls: NIOSSLContext?, trust: TrustedCertificates, deadline: Duration
    ) {
        self.endpoint = endpoint
        self.host = host
        self.port = port
        self.tls = tls
        self.trust = trust
        self.deadline = deadline
    }

    /// The loop for the next connection: they take turns.
    package static func nextLoop() -> any EventLoop { MultiThreadedEventLoopGroup.singleton.next() }

    /// Opens a connection and waits until it is ready.
    ///
    /// - Parameters:
    ///   - prepare: on the loop, adds the handlers above TLS (and, with `.first`, below it), one of which completes the
    ///     promise when the connection is ready or can't be.
    /// - Throws: ``ConnectError``; then there is no connection.
    package func connect<Ready: Sendable>(
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel, EventLoopPromise<Ready>) throws -> Void
    ) async throws(ConnectError) -> Ready {
        let ready = loop.makePromise(of: Ready.self)
        let limit = loop.scheduleTask(in: TimeAmount(deadline)) {
            ready.fail(ConnectError(.temporary, "\(endpoint) did not answer within \(deadline)"))
        }
        defer { limit.cancel() }
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(deadline))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65536))
            .channelOption(
                .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 256 << 10, high: 1 << 20)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try addTLS(to: channel)
                    try prepare(channel, ready)
                }
            }
        bootstrap.connect(host: host, port: port).whenComplete { result in
            switch result {
            case .failure(let error):
                ready.fail(error)
            case .success(let channel):
                channel.closeFuture.whenComplete { _ in
                    ready.fail(ConnectError(.temporary, "\(endpoint) closed the connection before it was ready"))
                }
                ready.futureResult.whenFailure { _ in channel.close(promise: nil) }
            }
        }
        do {
            return try await withTaskCancellationHandler {
                try await ready.futureResult.get()
            } onCancel: {
                ready.fail(ConnectError(.temporary, "connecting to \(endpoint) was given up"))
            }
        } catch {
            throw describe(error)
        }
    }

    private func addTLS(to channel: any Channel) throws {
        guard let tls else { return }
        // Names are checked against the certificate; for an address, the address itself is.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let handler = try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host)
        try channel.pipeline.syncOperations.addHandler(handler)
    }
}
