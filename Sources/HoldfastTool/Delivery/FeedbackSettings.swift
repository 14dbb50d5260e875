internal import Holdfast
internal import HoldfastLegacyAPNs

/// Where feedback is read.
struct FeedbackSettings {
    var endpoint: String
    var tls: RememberedRoute.TLS

    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    func source() throws(ToolError) -> LegacyAPNsFeedback {
        let certificate = try tls.certificate()
        do throws(LegacyAPNsConfigurationError) {
            return try LegacyAPNsFeedback(
                LegacyAPNsFeedback.Configuration(
                    endpoint: try LegacyAPNsFeedbackEndpoint(endpoint), trust: tls.trusted,
                    clientCertificate: certificate))
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }
}
