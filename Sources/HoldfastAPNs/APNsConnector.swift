internal import Foundation
public import Holdfast
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Sends to Apple's push service over HTTP/2.
public struct APNsConnector: Connector {
    /// Which certificates the service's own must be signed by.
    public enum Trust: Hashable, Sendable {
        /// The operating system's.
        case system
        /// Those in a PEM file, and no others.
        case file(String)
    }

    /// The connector's settings and named bounds.
    public struct Configuration: Sendable {
        public var endpoint: APNsEndpoint
        public var trust: Trust
        /// Nil sends no provider token.
        public var signingKey: APNsSigningKey?
        /// The most a request may take from being written to its answer; then its outcome is unknown. Checked once a
        /// second. Default: 30 s.
        public var sendDeadline: Duration = .seconds(30)
        /// The most that resolving, connecting, TLS and the first SETTINGS may take together. Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// A connection on which nothing has arrived for this long is asked for a sign of life (PING). Default: 20 s.
        public var pingAfter: Duration = .seconds(20)
        /// How long that sign of life may take before the connection counts as dead. Default: 10 s.
        public var pingDeadline: Duration = .seconds(10)
        /// The most requests at a time on a connection, whatever more the service allows. Default: 1000.
        public var maximumStreams = 1000

        public init(endpoint: APNsEndpoint, trust: Trust = .system, signingKey: APNsSigningKey? = nil) {
            self.endpoint = endpoint
            self.trust = trust
            self.signingKey = signingKey
        }
    }

    public let confirmationMode = ConfirmationMode.perNotification
    public let limits = NotificationLimits.http2
    public var endpoint: String { configuration.endpoint.description }

    let configuration: Configuration
    let tokens: ProviderTokenSource?
    let tls: NIOSSLContext?
    let logger: Logger

    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    public init(_ configuration: Configuration) throws(APNsConfigurationError) {
        self.configuration = configuration
        tokens = configuration.signingKey.map { ProviderTokenSource($0) }
        tls = configuration.endpoint.isCleartext ? nil : try Self.makeTLS(configuration.trust)
        logger = Logger(label: "holdfast.apns")
    }

    private static func makeTLS(_ trust: Trust) throws(APNsConfigurationError) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .fullVerification
        if case .file(let path) = trust {
            let bytes = try readFile(path, as: "trusted certificate file")
            do {
                let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
                guard !certificates.isEmpty else {
                    throw APNsConfigurationError("the trusted certificate file \(path) holds no certificate")
                }
                tls.trustRoots = .certificates(certificates)
            } catch let error as APNsConfigurationError {
                throw error
            } catch {
                throw APNsConfigurationError(
                    "the trusted certificate file \(path) is not PEM with certificates: \(error)")
            }
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw APNsConfigurationError("TLS can't be set up: \(error)")
        }
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let group = MultiThreadedEventLoopGroup.singleton
        let loop = group.next()
        let ready = loop.makePromise(of: Int.self)
        let connection = APNsConnection(loop: loop)
        let deadline = loop.scheduleTask(in: TimeAmount(configuration.connectDeadline)) {
            ready.fail(ConnectError(.temporary, "\(endpoint) did not answer within \(configuration.connectDeadline)"))
        }
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(configuration.connectDeadline))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65536))
            .channelOption(
                .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 256 << 10, high: 1 << 20)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.addHandlers(to: channel, connection, sink, ready) }
            }
        let attempt = bootstrap.connect(host: configuration.endpoint.host, port: configuration.endpoint.port)
        attempt.whenComplete { result in
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
        defer { deadline.cancel() }
        do {
            let capacity = try await withTaskCancellationHandler {
                try await ready.futureResult.get()
            } onCancel: {
                ready.fail(ConnectError(.temporary, "connecting to \(endpoint) was given up"))
            }
            connection.setInitialCapacity(capacity)
            return connection
        } catch {
            throw Self.describe(error, configuration)
        }
    }

    private func addHandlers(
        to channel: any Channel, _ connection: APNsConnection, _ sink: ConnectionSink, _ ready: EventLoopPromise<Int>
    ) throws {
        if let tls {
            // Names are checked against the certificate; for an address, the address itself is.
            let host = configuration.endpoint.host
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            let handler = try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        let handler = APNsHandler(
            configuration: configuration, tokens: tokens, connection: connection, sink: sink, ready: ready)
        try channel.pipeline.syncOperations.addHandler(handler)
        connection.bind(handler)
    }

    /// What went wrong, in words that name the thing, and whether somebody has to mend it.
    private static func describe(_ error: any Error, _ configuration: Configuration) -> ConnectError {
        let endpoint = configuration.endpoint
        let trusted: String
        switch configuration.trust {
        case .system: trusted = "the system's certificate authorities"
        case .file(let path): trusted = path
        }
        switch error {
        case let error as ConnectError:
            return error
        case let error as NIOConnectionError:
            let causes = error.connectionErrors.map { "\($0.target): \(cause($0.error))" }
            let dns = [error.dnsAError, error.dnsAAAAError].compactMap { $0 }.map { "\($0)" }
            let why = causes.isEmpty ? dns.joined(separator: "; ") : causes.joined(separator: "; ")
            return ConnectError(.temporary, "\(endpoint) can't be reached: \(why)")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return ConnectError(
                .configuration,
                "the certificate of \(endpoint) is for another host name: it does not name \(endpoint.host)")
        case let error as NIOSSLError:
            let text = "\(error)"
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                return ConnectError(
                    .configuration, "the certificate of \(endpoint) is not trusted: it is not signed by \(trusted)")
            }
            return ConnectError(.temporary, "TLS with \(endpoint) failed: \(text)")
        default:
            return ConnectError(.temporary, "\(endpoint): \(cause(error))")
        }
    }

    private static func cause(_ error: any Error) -> String {
        switch error {
        case let error as IOError:
            // In words: NIO's own name the system call.
            let text = NSError(domain: NSPOSIXErrorDomain, code: Int(error.errnoCode)).localizedDescription
            return text.split(separator: ". ").last.map(String.init) ?? text
        case ChannelError.connectTimeout(let limit):
            return "no answer within \(limit.nanoseconds / 1_000_000_000) s"
        default:
            return "\(error)"
        }
    }
}

extension TimeAmount {
    init(_ duration: Duration) { self = .milliseconds(duration.wholeMilliseconds) }
}
