package import Holdfast
package import HoldfastOpenSSL
package import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Opens connections to one service: resolves, connects to one address after the other, with or without a proxy, speaks
/// TLS, and describes failures in words.
package struct Dialer: Sendable {
    /// The endpoint, for people: `https://api.push.apple.com:443`.
    package let endpoint: String
    package let host: String
    package let port: Int
    /// nil for cleartext.
    package let tls: ClientTLS?
    /// The authorities that `tls` trusts, for people.
    package let trust: TrustedCertificates
    /// The most that resolving, connecting, TLS and getting ready may take together, over all addresses.
    package let deadline: Duration
    /// The name that TLS asks for, and that the certificate must be for, in place of the host's. Not an address.
    package var serverName: String?
    package var proxy: ProxyServer?
    package var resolver: any AddressResolver = SystemResolver()
    /// nil keeps no memory of failures at an address.
    package var watch: AddressWatch?
    /// Called with the certificates that the other side shows, its own first, whether they are good or not. On the loop.
    package var seen: (@Sendable ([Certificate]) -> Void)?
    /// Listeners that are never connected to.
    package var avoided = OwnListeners.shared

    package init(
        endpoint: String, host: String, port: Int, tls: ClientTLS?, trust: TrustedCertificates, deadline: Duration
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

    /// Opens a connection and waits until it is ready. Where an address fails, the next one is tried.
    ///
    /// - Parameters:
    ///   - prepare: called on the loop for each connected address; adds the handlers above TLS (and, with `.first`,
    ///     below it), one of which completes the promise when the connection is ready or has failed. The channel may be
    ///     active already. Its objects must belong to this attempt: after a failure another attempt follows.
    /// - Throws: ``ConnectError``; then there is no connection.
    package func connect<Ready: Sendable>(
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel, DialedAddress, EventLoopPromise<Ready>) throws -> Void
    ) async throws(ConnectError) -> Ready {
        let end = NIODeadline.now() + TimeAmount(deadline)
        let candidates = try await candidates(on: loop)
        var failures: [ConnectError] = []
        for (position, candidate) in candidates.enumerated() {
            let remaining = Duration.nanoseconds((end - .now()).nanoseconds)
            guard remaining > .zero, !Task.isCancelled else { break }
            let limit = AddressBook.limit(
                remaining: remaining, of: deadline, count: candidates.count - position)
            do throws(ConnectError) {
                return try await attempt(candidate, on: loop, within: limit, prepare: prepare)
            } catch {
                failures.append(error)
            }
        }
        throw summary(of: failures)
    }

    /// An address to connect to, and the target to ask of a proxy.
    struct Candidate {
        let address: SocketAddress
        let dialed: DialedAddress
        let tunnel: ProxyTunnel?
    }

    private func attempt<Ready: Sendable>(
        _ candidate: Candidate, on loop: any EventLoop, within limit: Duration,
        prepare: @escaping @Sendable (any Channel, DialedAddress, EventLoopPromise<Ready>) throws -> Void
    ) async throws(ConnectError) -> Ready {
        let ready = loop.makePromise(of: Ready.self)
        let dialed = candidate.dialed
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { ready.fail(NoAnswer(limit: limit)) }
        defer { timer.cancel() }
        let addHandlers: @Sendable (any Channel) throws -> Void = { channel in
            try addTLS(to: channel) { ready.fail(BadCertificate(fault: $0)) }
            try prepare(channel, dialed, ready)
        }
        // Before anybody goes on with the connection: the next one is led to the address that has the fewest.
        ready.futureResult.whenSuccess { _ in dialed.watch?.opened(dialed.text) }
        let until = NIODeadline.now() + TimeAmount(limit)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limit))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65536))
            .channelOption(
                .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 256 << 10, high: 1 << 20)
            )
            .channelInitializer { [tunnel = candidate.tunnel] channel in
                guard let tunnel else { return channel.eventLoop.makeCompletedFuture { try addHandlers(channel) } }
                tunnel.open(on: channel, until: until, then: addHandlers).whenFailure(ready.fail)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
        bootstrap.connect(to: candidate.address).whenComplete { result in
            switch result {
            case .failure(let error):
                ready.fail(error)
            case .success(let channel):
                channel.closeFuture.whenComplete { _ in
                    ready.fail(
                        ConnectError(
                            .temporary, "\(endpoint) closed the connection before it was ready",
                            advice: Self.silenceAdvice))
                }
                ready.futureResult.whenFailure { _ in channel.close(promise: nil) }
                ready.futureResult.whenSuccess { _ in
                    channel.closeFuture.whenComplete { _ in dialed.watch?.closed(dialed.text) }
                }
            }
        }
        do {
            return try await withTaskCancellationHandler {
                try await ready.futureResult.get()
            } onCancel: {
                ready.fail(ConnectError(.temporary, "connecting to \(endpoint) was given up"))
            }
        } catch {
            if Self.isStall(error) {
                dialed.stalled("does not get as far as a usable connection within \(limit.words)")
            } else {
                dialed.watch?.refused(dialed.text)
            }
            throw describe(error, at: dialed)
        }
    }

    /// The timeout of an address has passed.
    struct NoAnswer: Error {
        let limit: Duration
    }

    private static func isStall(_ error: any Error) -> Bool {
        if case ChannelError.connectTimeout = error { return true }
        return error is NoAnswer
    }

    /// The other side's certificate is not valid.
    struct BadCertificate: Error {
        let fault: CertificateFault
    }

    private func addTLS(
        to channel: any Channel, fails: @escaping @Sendable (CertificateFault) -> Void
    ) throws {
        guard let tls else { return }
        try channel.pipeline.syncOperations.addHandler(tls.handler(for: expectedName, seen: seen, fails: fails))
    }

    /// The name that the certificate must be for.
    var expectedName: SubjectName {
        if let serverName { return .dns(serverName) }
        return HostAndPort.isAddress(host) ? .ip(host) : .dns(host)
    }
}
