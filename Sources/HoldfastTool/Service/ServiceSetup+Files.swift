internal import Foundation

/// The files that `holdfast init` makes or copies, and what may be in their way.
extension ServiceSetup {
    enum Reader { case owner, service, everybody }

    struct File {
        /// Within the directory.
        let name: String
        /// Where it is copied from; nil for what is made.
        let source: String?
        let reader: Reader
        let meaning: String
    }

    /// The name of a file's copy.
    ///
    /// - Parameter role: that of a stream, which has none.
    private static func name(of path: String, as role: String = "") -> String {
        SetupSource.descriptor(of: path) == nil ? URL(fileURLWithPath: path).lastPathComponent : role
    }

    /// Beside the configuration, in the order in which they are put in place.
    var files: [File] {
        func copied(_ path: String?, _ role: String, _ reader: Reader, _ meaning: String) -> File? {
            path.map {
                let source = SetupSource.descriptor(of: $0) == nil ? Self.absolute($0) : $0
                return File(name: Self.name(of: $0, as: role), source: source, reader: reader, meaning: meaning)
            }
        }
        func made(_ name: String, _ reader: Reader, _ meaning: String) -> File {
            File(name: "tls/\(name)", source: nil, reader: reader, meaning: meaning)
        }
        let given = [
            copied(signingKey?.file, "AuthKey.p8", .service, "the key that signs provider tokens, copied"),
            copied(certificate?.file, "client.pem", .service, "the certificate for the push service, copied"),
            copied(certificate?.key, "client.key", .service, "its key, copied"),
            copied(certificate?.passphraseFile, "passphrase", .service, "its passphrase, copied"),
            copied(trust, "trusted.pem", .everybody, "the certificates to trust, copied"),
        ].compactMap(\.self)
        let client = [
            made("client.key", .owner, "the key of \(self.client ?? "")"),
            made("client.pem", .everybody, "a certificate for \(self.client ?? "")"),
        ]
        return given + [
            made("ca.key", .owner, "the key of the authority"),
            made("ca.pem", .everybody, "the authority, which senders are to trust"),
            made("server.key", .service, "the key of the gateway"),
            made("server.pem", .everybody, "the certificate of the gateway"),
        ] + (self.client == nil ? [] : client)
    }

    func text(_ files: [File]) -> SetupText {
        SetupText(
            plan: self, key: signingKey.map { Self.name(of: $0.file, as: "AuthKey.p8") },
            certificate: certificate.map { Self.name(of: $0.file, as: "client.pem") },
            certificateKey: certificate?.key.map { Self.name(of: $0, as: "client.key") },
            passphrase: certificate?.passphraseFile.map { Self.name(of: $0, as: "passphrase") },
            trust: trust.map { Self.name(of: $0, as: "trusted.pem") },
            journal: Self.parent(journal) == directory ? Self.name(of: journal) : journal)
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    static func parent(_ path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().standardizedFileURL.path
    }

    func refuseTwins(_ files: [File]) throws(ToolError) {
        let names = files.map(\.name) + ["holdfast.yaml"]
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ToolError(.usage, "two of the files are called \(twice): rename one")
        }
    }

    /// - Throws: ``ToolError`` that names all that is in the way.
    func refuseExisting(_ files: [File]) throws(ToolError) {
        guard !replacesExisting else { return }
        let inTheWay =
            files.filter { file in
                // An authority stays, and a file may be in its place already.
                !file.name.hasPrefix("tls/ca.") && file.source != "\(directory)/\(file.name)"
            }.map(\.name) + ["holdfast.yaml"]
        let existing = inTheWay.map { "\(directory)/\($0)" }.filter { FileManager.default.fileExists(atPath: $0) }
        guard !existing.isEmpty else { return }
        throw ToolError(
            .cannotOpen,
            "\(existing.joined(separator: ", ")): there already. --replace replaces what is there, and keeps the "
                + "authority and the journal")
    }
}
