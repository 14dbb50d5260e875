internal import HoldfastOpenSSL

/// The names in a client's certificate, each in its place: a name in one place does not match the same name in another.
struct ClientNames {
    private let subject: DistinguishedName
    private let commonName: String?
    private let hosts: Set<String>

    init(_ certificate: Certificate) {
        self.init(
            subject: certificate.subject, commonName: certificate.commonName,
            hosts: certificate.subjectNames.compactMap { if case .dns(let host) = $0 { host } else { nil } })
    }

    /// - Parameters:
    ///   - subject: as RFC 2253 writes it.
    ///   - hosts: in any case.
    init(subject: String, commonName: String?, hosts: [String]) {
        self.subject = DistinguishedName(subject)
        self.commonName = commonName
        self.hosts = Set(hosts.map { $0.lowercased() })
    }

    /// Whether the item of the table is for this client.
    func fit(_ item: ClientSubject) -> Bool {
        switch item.kind {
        case .any where item.name.contains("="), .subject: DistinguishedName(item.name) == subject
        case .any: item.name == commonName || hosts.contains(item.name.lowercased())
        case .commonName: item.name == commonName
        case .hostName: hosts.contains(item.name.lowercased())
        }
    }
}
