internal import Holdfast
internal import HoldfastOpenSSL

/// Common to the listeners of the binary protocol and of feedback: a certificate is the only credential of their
/// clients and, where no topic is configured, the only source of their topic.
struct CertifiedClients {
    /// The TLS of such a listener. Demands a certificate where other machines can reach it.
    ///
    /// - Parameter listener: its name, for people.
    /// - Throws: ``GatewayError`` where it would serve everybody, or clients would have no topic.
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

    /// The topic of a client, once TLS is up: the configured one; without it the topic of its certificate, as Apple
    /// writes it (the subject's user identifier, or the first of its topics), or the one topic that the table of
    /// clients has for it.
    ///
    /// - Returns: nil where there is none, for a certificate of Apple's that is for other topics than the configured
    ///   one, and where the table has other topics for its bearer.
    static func topic(of client: KnownClient?, configured: String?) -> String? {
        guard let client else { return configured }
        let topic = topic(of: client.certificate, configured: configured)
        guard let allowed = client.topics else { return topic.said }
        switch topic {
        case .said(let topic): return allowed.contains(topic) ? topic : nil
        case .unsaid: return allowed.count == 1 ? allowed.first : nil
        case .contradicted: return nil
        }
    }

    private enum Topic {
        case said(String)
        case unsaid, contradicted

        var said: String? { if case .said(let topic) = self { topic } else { nil } }
    }

    /// Unreadable parts of a certificate are ignored: the handshake has found it valid all the same.
    private static func topic(of certificate: Certificate, configured: String?) -> Topic {
        guard let facts = try? certificate.facts(), let topics = facts.topics else {
            return configured.map { .said($0) } ?? .unsaid
        }
        guard let configured else { return (facts.userID ?? facts.listedTopics.first).map { .said($0) } ?? .unsaid }
        return topics.contains(configured) ? .said(configured) : .contradicted
    }
}
