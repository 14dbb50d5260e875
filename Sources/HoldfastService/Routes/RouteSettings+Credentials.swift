internal import HoldfastAPNs

extension RouteSettings {
    /// The warning for operators about a route to Apple that shows neither key nor certificate; nil for any other.
    package var credentialsWarning: String? {
        guard signingKey == nil, certificate == nil, isApples else { return nil }
        return
            "route \(name) has neither a signing-key nor a certificate, and \(endpoint) refuses all that comes without: "
            + "nothing is delivered and everything kept until it has one"
    }

    private var isApples: Bool {
        guard self.protocol == .http2 else { return false }
        // One that is none is told as a mistake.
        do throws(APNsConfigurationError) { return try APNsEndpoint(endpoint).isApples } catch { return false }
    }
}
