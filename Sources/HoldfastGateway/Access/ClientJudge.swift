internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// A client with a certificate that is good here.
struct KnownClient: Sendable {
    let certificate: Certificate
    /// The client's certificate, and those that lead from it to an authority of the listener.
    let chain: [Certificate]
    /// Unix seconds. From then on another judgement is needed: a certificate of the chain has expired, or a revocation
    /// list is out of date.
    let goodUntil: Int64
    /// The topics that it may submit for; nil for all.
    let topics: Set<String>?
    /// Shared by all connections of the client to a listener; nil for no limit.
    let rate: SharedRate?
}

/// Decides whose certificate is good at a listener: by its signature, its dates and its purpose, by the revocation
/// lists, and by the table of clients.
final class ClientJudge: Sendable {
    struct Refused: Error {
        /// The reason, for operators. Names the certificate by its subject, which its bearer has written.
        let words: String
    }

    /// The identity of an item of the table.
    private struct Item: Hashable {
        let name: String
        let kind: ClientSubject.Kind

        init(_ subject: ClientSubject) { (name, kind) = (subject.name, subject.kind) }
    }

    private let verifier: CertificateVerifier
    private let subjects: [ClientSubject]?
    /// The rates, by the item in the table.
    private let rates: [Item: SharedRate]
    /// Certificates between clients' and the listener's authorities: a client that resumes a session shows none of
    /// them.
    private let between = Monitor(RememberedCertificates(limit: 1000))

    /// - Parameters:
    /// - authorities: must have signed the clients' certificates.
    ///   - former: the judge whose rates are carried on.
    /// - Throws: an error that names the file that is wrong.
    init(
        _ settings: ServerTLS, authorities: TrustedCertificates, after former: ClientJudge?
    ) throws(TransportConfigurationError) {
        verifier = try TrustStore.verifier(
            authorities, as: "client authorities", revocations: settings.clientRevocations)
        subjects = settings.clientSubjects
        var rates: [Item: SharedRate] = [:]
        for subject in subjects ?? [] where subject.rate != nil {
            let known = former?.rates[Item(subject)]
            rates[Item(subject)] = known?.limit == subject.rate ? known : SharedRate(subject.rate)
        }
        self.rates = rates
    }

    /// - Parameters:
    /// - chain: the certificates shown by the client, its own first.
    ///   - isResumed: whether the client resumes a session, which holds only its own certificate.
    func judge(_ chain: [Certificate], isResumed: Bool = false) throws(Refused) -> KnownClient {
        guard let own = chain.first else { throw Refused(words: "a client shows no certificate") }
        let whose = "a client's certificate (\(Self.printable(own.subject)))"
        let path: CertificatePath
        do throws(OpenSSLError) {
            let others = isResumed ? between.withLock(\.all) : []
            switch try verifier.verdict(on: chain + others, as: .client) {
            case .good(let found): path = found
            case .bad(let fault): throw OpenSSLError(Self.words(fault))
            }
            try remember(path.shown.dropFirst())
        } catch {
            throw Refused(words: "\(whose) is not good: \(error)")
        }
        func known(topics: Set<String>?, rate: SharedRate?) -> KnownClient {
            KnownClient(certificate: own, chain: path.shown, goodUntil: path.goodUntil, topics: topics, rate: rate)
        }
        guard let subjects else { return known(topics: nil, rate: nil) }
        let names = ClientNames(own)
        guard let subject = subjects.first(where: names.fit)
        else { throw Refused(words: "\(whose) is good, but of nobody in the table of clients") }
        return known(topics: subject.topics, rate: rates[Item(subject)])
    }

    private func remember(_ certificates: ArraySlice<Certificate>) throws(OpenSSLError) {
        for certificate in certificates {
            let bytes = try certificate.der()
            between.withLock { $0.add(certificate, bytes) }
        }
    }

    private static func words(_ fault: CertificateFault) -> String {
        switch fault {
        case .missing: "there is none"
        case .expired(let end, nil): "it has expired\(end.map { " (\(ClientCertificate.text($0)))" } ?? "")"
        case .expired(let end, let authority?):
            "that of its authority \(printable(authority)) has expired"
                + (end.map { " (\(ClientCertificate.text($0)))" } ?? "")
        case .expiredAndUntrusted(let end, let issuer):
            "it has expired (\(ClientCertificate.text(end))), and none of the listener's authorities has signed it, but "
                + (issuer.map(printable) ?? "itself")
        case .notYetValid(let start, _): "it is not valid yet\(start.map { " (\(ClientCertificate.text($0)))" } ?? "")"
        case .otherName: "it is for another name"
        case .untrusted(let issuer): "none of the listener's authorities has signed it, but \(printable(issuer))"
        case .selfSigned: "it has signed itself"
        case .otherPurpose: "it is not for TLS clients: its key usage says otherwise"
        case .revoked(nil): "it has been revoked"
        case .revoked(let authority?): "that of its authority \(printable(authority)) has been revoked"
        case .unlisted(let issuer): "no revocation list of \(printable(issuer)) is there, and each authority needs one"
        case .outdatedList(let issuer): "the revocation list of \(printable(issuer)) is out of date"
        case .forgedList(let issuer): "the revocation list of \(printable(issuer)) is not signed with its key"
        case .other(let words): words
        }
    }

    /// A name written by the other side, for one line of a log: everything but letters, numbers, signs and spaces is
    /// escaped, since it could make the name look like another's.
    static func printable(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars.prefix(200) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return name.unicodeScalars.count > 200 ? text + "…" : text
    }
}
