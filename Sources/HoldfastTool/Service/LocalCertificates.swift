internal import Foundation
internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// An authority, a server's certificate and, by choice, a client's, as files of one directory.
struct LocalCertificates {
    /// The paths of the files. The names of its properties are those of the JSON.
    struct Made: Encodable {
        var authority: String
        var isNewAuthority: Bool
        var certificate: String
        var key: String
        var names: [String]
        var goodUntil: String
        var client: String?
        var clientKey: String?
        /// Who may read the server's key beside its owner; nil for nobody.
        var group: String?
    }

    /// The names that the server's certificate always has.
    static let standardNames = ["localhost", "127.0.0.1", "::1"]

    let directory: String
    /// More that it stands for.
    let names: [String]
    /// Whom the client's certificate names; nil for none.
    let client: String?
    let replacesExisting: Bool
    /// Who may read the server's key beside its owner; nil for nobody.
    var group: SystemGroup?

    /// Makes them, or nothing where one is there already.
    ///
    /// - Throws: ``ToolError``.
    func make() async throws(ToolError) -> Made {
        if !replacesExisting { try refuseExisting() }
        let rights = group.map { FileRights(groupID: $0.id, mode: 0o750) } ?? FileRights(mode: 0o755)
        var directories: [String] = []
        try SetupDirectory.make(directory, rights, above: rights, made: &directories)
        let (authority, isNew) = try await authority()
        let names = Self.standardNames + names.filter { !Self.standardNames.contains($0) }
        let lifetime = Duration.seconds(397 * 86_400)
        let end = EngineClock.system.wall().seconds + lifetime.components.seconds
        var made = Made(
            authority: path("ca.pem"), isNewAuthority: isNew, certificate: path("server.pem"), key: path("server.key"),
            names: names,
            goodUntil: String(Date(timeIntervalSince1970: TimeInterval(end)).formatted(.iso8601).prefix(10)))
        made.group = group?.name
        try await issue(
            authority, "Holdfast gateway", names.map(Self.subject), lifetime, usage: "serverAuth",
            to: made.certificate, key: made.key, keyRights: group.map { FileRights(groupID: $0.id, mode: 0o640) })
        if let client {
            (made.client, made.clientKey) = (path("client.pem"), path("client.key"))
            try await issue(
                authority, client, [.dns("client.invalid")], lifetime, usage: "clientAuth", to: path("client.pem"),
                key: path("client.key"))
        }
        return made
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    private func refuseExisting() throws(ToolError) {
        let wanted = ["server.pem", "server.key"] + (client == nil ? [] : ["client.pem", "client.key"])
        let existing = wanted.map(path).filter { FileManager.default.fileExists(atPath: $0) }
        guard let first = existing.first else { return }
        throw ToolError(
            .cannotOpen, "\(first) is there already: give another --directory, or --replace to make it anew")
    }

    /// The directory's own; a new one where it has none.
    private func authority() async throws(ToolError) -> (CertificateAuthority, isNew: Bool) {
        let (certificate, key) = (path("ca.pem"), path("ca.key"))
        switch (FileManager.default.contents(atPath: certificate), FileManager.default.contents(atPath: key)) {
        case (let certificateBytes?, let keyBytes?):
            do throws(OpenSSLError) {
                return (
                    try CertificateAuthority(certificatePEM: Array(certificateBytes), keyPEM: Array(keyBytes)), false
                )
            } catch {
                throw ToolError(.cannotOpen, "\(certificate) and \(key) are no authority of ours: \(error)")
            }
        case (nil, nil):
            let made = try Self.saying { () throws(OpenSSLError) in
                try CertificateAuthority(commonName: "Holdfast local authority")
            }
            try await write(try Self.saying { () throws(OpenSSLError) in try made.key.pem() }, to: key, isSecret: true)
            try await write(
                try Self.saying { () throws(OpenSSLError) in try made.certificate.pem() }, to: certificate,
                isSecret: false)
            return (made, true)
        case (let one, _):
            throw ToolError(
                .cannotOpen,
                "\(one == nil ? certificate : key) is missing, or can't be read, beside the other of its pair")
        }
    }

    private func issue(
        _ authority: CertificateAuthority, _ commonName: String, _ names: [SubjectName], _ lifetime: Duration,
        usage: String, to certificatePath: String, key keyPath: String, keyRights: FileRights? = nil
    ) async throws(ToolError) {
        let pair = try Self.saying { () throws(OpenSSLError) in
            let issued = try authority.issue(commonName: commonName, names: names, lifetime: lifetime, usage: usage)
            return (certificate: try issued.certificate.pem(), key: try issued.key.pem())
        }
        // With a key that is not its own, a certificate is refused; the moment between the two is a short one.
        try await write(pair.key, to: keyPath, isSecret: true, rights: keyRights)
        try await write(pair.certificate, to: certificatePath, isSecret: false)
    }

    /// A reader finds nothing, what was there, or all of it.
    private func write(
        _ bytes: [UInt8], to path: String, isSecret: Bool, rights: FileRights? = nil
    ) async throws(ToolError) {
        let file = try PrivateFile(path, replacesExisting: true)
        do throws(ToolError) {
            try file.write(bytes)
            try await file.finish(isPublic: !isSecret, rights: rights)
        } catch {
            file.discard()
            throw error
        }
    }

    private static func subject(_ name: String) -> SubjectName {
        let isAddress = name.contains(":") || name.allSatisfy { $0 == "." || ($0.isASCII && $0.isNumber) }
        return isAddress ? .ip(name) : .dns(name)
    }

    private static func saying<R>(_ body: () throws(OpenSSLError) -> R) throws(ToolError) -> R {
        do throws(OpenSSLError) { return try body() } catch { throw ToolError(.usage, "\(error)") }
    }
}
