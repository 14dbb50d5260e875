package import HoldfastRequests
package import HoldfastTransport

extension PostAddress {
    /// The URL of a webhook.
    ///
    /// - Throws: as ``HoldfastRequests/PostAddress/init(_:cargo:credentials:)``.
    package init(webhook text: String) throws(TransportConfigurationError) {
        try self.init(
            text, cargo: "outcomes",
            credentials: "requests are signed with the secret, and carry no other credentials")
    }
}
