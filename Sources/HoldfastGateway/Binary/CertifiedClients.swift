internal import Holdfast
internal import HoldfastOpenSSL
internal import NIOCore
internal import NIOSSL

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

    /// What a client speaks of, once TLS is up: what is configured; where nothing is, what its certificate is for, as Apple
    /// writes it (the subject's user identifier, or the first of its topics).
    ///
    /// - Returns: nil where nothing says it, and for a certificate of Apple's that is for other topics than the one
    ///   configured.
    static func topic(of pipeline: ChannelPipeline, configured: String?) -> String? {
        guard let facts = facts(of: pipeline), let topics = facts.topics else { return configured }
        guard let configured else { return facts.userID ?? facts.listedTopics.first }
        return topics.contains(configured) ? configured : nil
    }

    /// Of the certificate that the client has shown; nil where it has shown none. What can't be read says nothing: the
    /// handshake has found it good all the same.
    private static func facts(of pipeline: ChannelPipeline) -> CertificateFacts? {
        do {
            guard let certificate = try pipeline.syncOperations.nioSSL_peerCertificate() else { return nil }
            let bytes = try certificate.toDERBytes()
            return try Certificate(der: bytes.span, from: "the client's certificate").facts()
        } catch {
            return nil
        }
    }
}
