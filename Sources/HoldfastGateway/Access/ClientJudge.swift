internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// Somebody who has shown a certificate that is good here.
struct KnownClient: Sendable {
    let certificate: Certificate
    /// Unix seconds: the last one at which the certificate is good.
    let notAfter: Int64
    /// What it may submit for; nil for everything.
    let topics: Set<String>?
    /// Shared by all its connections to a listener; nil for any number.
    let rate: SharedRate?
}

/// Decides whose certificate is good at a listener: by who has signed it, its dates and what it is for, by the revocation
/// lists, and by the table of those who may submit.
final class ClientJudge: Sendable {
    struct Refused: Error {
        /// For operators. Of the certificate it says whose it is, which its bearer has written.
        let words: String
    }

    private let verifier: CertificateVerifier
    private let subjects: [ClientSubject]?
    /// By the name in the table.
    private let rates: [String: SharedRate]

    /// - Parameters:
    ///   - authorities: who has to have signed what clients show.
    ///   - former: whose rates go on as they are.
    /// - Throws: an error that names the file that is wrong.
    init(
        _ settings: ServerTLS, authorities: TrustedCertificates, after former: ClientJudge?
    ) throws(TransportConfigurationError) {
        verifier = try TrustStore.verifier(
            authorities, as: "client authorities", revocations: settings.clientRevocations)
        subjects = settings.clientSubjects
        var rates: [String: SharedRate] = [:]
        for subject in subjects ?? [] where subject.rate != nil {
            let known = former?.rates[subject.name]
            rates[subject.name] = known?.limit == subject.rate ? known : SharedRate(subject.rate)
        }
        self.rates = rates
    }

    /// - Parameters:
    ///   - chain: what the client has shown, its own first.
    ///   - wasFoundGood: whether this judge found it good before, in the handshake of a session that is resumed; then only
    ///     time can have changed that, and the certificates that lead to the authority are not needed.
    func judge(_ chain: [Certificate], wasFoundGood: Bool = false) throws(Refused) -> KnownClient {
        guard let own = chain.first else { throw Refused(words: "a client shows no certificate") }
        let whose = "a client's certificate (\(Self.printable(own.subject)))"
        let notAfter: Int64
        do throws(OpenSSLError) {
            if wasFoundGood {
                if !own.isValid() { throw OpenSSLError("it has expired") }
            } else if let fault = try verifier.fault(in: chain, as: .client) {
                throw OpenSSLError(Self.words(fault))
            }
            notAfter = try own.facts().notAfter
        } catch {
            throw Refused(words: "\(whose) is not good: \(error)")
        }
        guard let subjects else { return KnownClient(certificate: own, notAfter: notAfter, topics: nil, rate: nil) }
        let names = Self.names(of: own)
        guard let subject = subjects.first(where: { names.contains($0.name) || names.contains($0.name.lowercased()) })
        else { throw Refused(words: "\(whose) is good, but of nobody in the table of clients") }
        return KnownClient(
            certificate: own, notAfter: notAfter, topics: subject.topics, rate: rates[subject.name])
    }

    /// Host names are alike in whatever case.
    private static func names(of certificate: Certificate) -> Set<String> {
        var names: Set<String> = [certificate.subject]
        if let name = certificate.commonName { names.insert(name) }
        for case .dns(let host) in certificate.subjectNames { names.insert(host.lowercased()) }
        return names
    }

    private static func words(_ fault: CertificateFault) -> String {
        switch fault {
        case .missing: "there is none"
        case .expired(let end, nil): "it has expired\(end.map { " (\(ClientCertificate.text($0)))" } ?? "")"
        case .expired(let end, let authority?):
            "that of its authority \(printable(authority)) has expired"
                + (end.map { " (\(ClientCertificate.text($0)))" } ?? "")
        case .notYetValid(let start, _): "it is not valid yet\(start.map { " (\(ClientCertificate.text($0)))" } ?? "")"
        case .otherName: "it is for another name"
        case .untrusted(let issuer): "none of the listener's authorities has signed it, but \(printable(issuer))"
        case .selfSigned: "it has signed itself"
        case .otherPurpose: "it is not for TLS clients: its key usage says otherwise"
        case .revoked: "it has been revoked"
        case .unlisted(let issuer): "no revocation list of \(printable(issuer)) is there, and each authority needs one"
        case .outdatedList(let issuer): "the revocation list of \(printable(issuer)) is out of date"
        case .other(let words): words
        }
    }

    /// The other side has written it.
    private static func printable(_ name: String) -> String {
        String(decoding: name.utf8.filter { (0x20..<0x7F).contains($0) }.prefix(200), as: UTF8.self)
    }
}
