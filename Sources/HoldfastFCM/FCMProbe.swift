package import Holdfast
package import HoldfastRequests
internal import HoldfastTransport

/// A look at Firebase Cloud Messaging: see ``HoldfastRequests/ServiceProbe``.
///
/// The request is a message to a topic that Google only checks (`validateOnly`), so it reaches nobody. Before it, an access
/// token is fetched where none is at hand.
package struct FCMProbe: Sendable {
    /// The topic of the message, which nobody follows.
    package static let topic = "holdfast-doctor"

    private let configuration: FCMConnector.Configuration
    private let credentials: FCMCredentials
    /// The value of the request's `via`, by which gateways know one another; nil for none.
    package var via: String?

    /// Reads the files of credentials and trusted certificates.
    ///
    /// - Throws: ``FCMConfigurationError`` that names the file that is missing or invalid.
    package init(_ configuration: FCMConnector.Configuration) throws(FCMConfigurationError) {
        try configuration.check()
        self.configuration = configuration
        do throws(TransportConfigurationError) {
            credentials = try FCMCredentials(configuration, generation: 1)
        } catch {
            throw FCMConfigurationError(error.message)
        }
    }

    /// The access tokens. One of the service's process that is restored here is used, and none is fetched.
    package var tokens: AccessTokenSource? { credentials.tokens }

    /// Fetches an access token, unless there is one.
    ///
    /// - Returns: why there is none; nil when there is.
    package func fetchToken() async -> ConnectError? {
        do throws(ConnectError) {
            _ = try await credentials.tokens?.token()
            return nil
        } catch {
            return error
        }
    }

    /// - Parameter asks: whether to ask; else it only connects.
    package func run(asks: Bool) async -> ProbeReport {
        var configuration = configuration
        configuration.validatesOnly = true
        let tokens = asks ? credentials.tokens : nil
        let probe = ServiceProbe(
            configuration.dialer(credentials, watch: nil), configuration.requests, clock: configuration.clock
        ) { [configuration, via] in FCMDialect(configuration, tokens: tokens, via: via) }
        do throws(Refusal) {
            return await probe.run(asks ? try request() : nil)
        } catch {
            preconditionFailure("the topic of the probe is one")
        }
    }

    private func request() throws(Refusal) -> PushNotification {
        PushNotification(
            address: try ServiceAddress(.firebaseTopic, Self.topic), topic: configuration.project,
            payload: Array(#"{"data":{"holdfast":"doctor"}}"#.utf8))
    }
}
