package import HoldfastAPNs

extension APNsEndpoint {
    /// `production` and `sandbox` are where Apple manages their channels.
    package init(management text: String) throws(APNsConfigurationError) {
        let endpoint = try APNsEndpoint(text)
        self = endpoint.channels ?? endpoint
    }
}
