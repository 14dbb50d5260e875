internal import Holdfast
internal import HoldfastLegacyAPNs

/// Where feedback is read, and how often.
struct FeedbackSettings: Equatable, Sendable {
    var endpoint: String
    /// From one reading to the next; nil for the reader's own default.
    var interval: Duration?

    /// - Parameters:
    ///   - trust: nil for what the system trusts.
    ///   - certificate: what the service knows us by.
    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    func source(
        trust: String?, certificate: RouteSettings.Certificate?
    ) throws(ToolError) -> LegacyAPNsFeedback {
        let certificate = certificate?.identity
        do throws(LegacyAPNsConfigurationError) {
            return try LegacyAPNsFeedback(
                LegacyAPNsFeedback.Configuration(
                    endpoint: try LegacyAPNsFeedbackEndpoint(endpoint), trust: trust.map { .file($0) } ?? .system,
                    clientCertificate: certificate))
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }
}
