public import Holdfast
package import HoldfastTransport
internal import NIOCore

/// The feedback service of the binary protocol: reads tuples of time and token to the end of the stream.
///
///     let source = try LegacyAPNsFeedback(.init(endpoint: .init("feedback+tls://feedback.example.com")))
///     let reader = FeedbackReader(source, blacklist: engine.blacklist)
///
/// The files of its certificates are read for each reading, so a renewed certificate is used by the next one.
public struct LegacyAPNsFeedback: FeedbackSource {
    /// The source's settings and named bounds.
    public struct Configuration: Sendable {
        /// The feedback service to read from.
        public var endpoint: LegacyAPNsFeedbackEndpoint
        /// The authorities that may have signed the service's certificate. Default: the system's.
        public var trust: TrustedCertificates
        /// The certificate that the service knows the reader by. Default: none.
        public var clientCertificate: ClientCertificate?
        /// The timeout for resolving, connecting and TLS together. Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// The silence that ends a reading: a service that sends nothing for this long has sent everything, even if it
        /// leaves the connection open. Default: 10 s.
        public var silenceLimit: Duration = .seconds(10)
        /// Listeners of this process, which are never connected to. For tests of both ends in one process.
        package var avoided = OwnListeners.shared

        /// Creates a configuration; every other setting starts at its default.
        public init(
            endpoint: LegacyAPNsFeedbackEndpoint, trust: TrustedCertificates = .system,
            clientCertificate: ClientCertificate? = nil
        ) {
            self.endpoint = endpoint
            self.trust = trust
            self.clientCertificate = clientCertificate
        }
    }

    /// The endpoint as text, in the form that its ``LegacyAPNsFeedbackEndpoint`` parses.
    public var endpoint: String { configuration.endpoint.description }

    private let configuration: Configuration

    /// Reads the certificates once, to check them.
    ///
    /// - Throws: ``LegacyAPNsConfigurationError`` that names the file that is missing or invalid.
    public init(_ configuration: Configuration) throws(LegacyAPNsConfigurationError) {
        self.configuration = configuration
        do throws(TransportConfigurationError) {
            _ = try dialer()
        } catch {
            throw LegacyAPNsConfigurationError(error.message)
        }
    }

    private func dialer() throws(TransportConfigurationError) -> Dialer {
        let endpoint = configuration.endpoint
        let tls =
            endpoint.isCleartext
            ? nil
            : try ClientTLS(
                trust: configuration.trust, certificate: try configuration.clientCertificate?.load())
        var dialer = Dialer(
            endpoint: endpoint.description, host: endpoint.host, port: endpoint.port, tls: tls,
            trust: configuration.trust, deadline: configuration.connectDeadline)
        dialer.avoided = configuration.avoided
        return dialer
    }

    /// Connects and reads all tuples, in batches, until the service closes or falls silent.
    ///
    /// Returns early, without an error, when its task is cancelled.
    ///
    /// - Parameter take: gets each batch, which the service has forgotten already.
    /// - Throws: ``FeedbackError``: the configuration, the connection or the stream is at fault, or an error of
    ///   `take`.
    public func read(
        _ take: @Sendable ([FeedbackTuple]) async throws(FeedbackError) -> Void
    ) async throws(FeedbackError) {
        guard let stream = try await connect() else { return }
        defer { stream.close() }
        var reader = FeedbackTupleReader()
        while true {
            switch await stream.next() {
            case .bytes(let bytes):
                reader.append(bytes.span)
                var tuples: [FeedbackTuple] = []
                while let tuple = reader.next() { tuples.append(tuple) }
                if !tuples.isEmpty { try await take(tuples) }
            case .end(.stopped):
                return
            case .end(.failed(let cause)):
                throw FeedbackError(.connection, "\(endpoint): \(cause)")
            case .end(.closed), .end(.silent):
                guard !reader.isInTuple else {
                    throw FeedbackError(.malformed, "\(endpoint) ended in the middle of a tuple")
                }
                return
            }
        }
    }

    /// - Returns: nil when the reading was cancelled.
    private func connect() async throws(FeedbackError) -> FeedbackStream? {
        let dialer: Dialer
        do throws(TransportConfigurationError) {
            dialer = try self.dialer()
        } catch {
            throw FeedbackError(.configuration, error.message)
        }
        do throws(ConnectError) {
            return try await dialer.connect(on: Dialer.nextLoop()) {
                (channel, _, ready: EventLoopPromise<FeedbackStream>) in
                let handler = FeedbackHandler(
                    stream: FeedbackStream(channel), isCleartext: configuration.endpoint.isCleartext,
                    silenceLimit: TimeAmount(configuration.silenceLimit), ready: ready)
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        } catch {
            if Task.isCancelled { return nil }
            throw FeedbackError(error)
        }
    }
}
