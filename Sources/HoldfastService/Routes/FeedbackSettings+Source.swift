internal import Holdfast
package import HoldfastLegacyAPNs

extension FeedbackSettings {
    /// - Parameters:
    ///   - trust: nil for what the system trusts.
    ///   - certificate: what the service knows us by.
    /// - Throws: ``UnusableRoute``, which names the file or flag that is wrong.
    package func source(
        trust: String?, certificate: RouteSettings.Certificate?
    ) throws(UnusableRoute) -> LegacyAPNsFeedback {
        let certificate = certificate?.identity
        do throws(LegacyAPNsConfigurationError) {
            return try LegacyAPNsFeedback(
                LegacyAPNsFeedback.Configuration(
                    endpoint: try LegacyAPNsFeedbackEndpoint(endpoint), trust: trust.map { .file($0) } ?? .system,
                    clientCertificate: certificate))
        } catch {
            throw UnusableRoute(error.message)
        }
    }
}
