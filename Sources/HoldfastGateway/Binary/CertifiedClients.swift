internal import Holdfast

/// What the listeners of the binary protocol and of feedback have in common: certificates are all that their clients can
/// show, and where no topic is configured, all that says what they are for.
struct CertifiedClients {
    /// The TLS of such a listener, with a certificate demanded where others than this machine's processes reach it.
    ///
    /// - Parameter listener: for people.
    /// - Throws: ``GatewayError`` where it would serve everybody, or nobody could say for which topic.
    static func tls(
        _ tls: ServerTLS?, at address: ListenAddress, topic: String?, of listener: String
    ) throws(GatewayError) -> ServerTLS? {
        func fail(_ what: String) -> GatewayError {
            GatewayError(.configuration, "the \(listener) listener at \(address) \(what)")
        }
        guard topic != nil || tls?.clientAuthorities != nil else {
            throw fail("needs a topic, or the authorities of clients whose certificates have one")
        }
        guard !address.isLoopback else { return tls }
        guard var tls else { throw fail("needs a certificate: without TLS it can only be on loopback") }
        guard tls.clientAuthorities != nil else {
            throw fail("is reached from elsewhere, and needs the authorities of those clients who may use it")
        }
        tls.requiresClientCertificate = true
        return tls
    }
}
