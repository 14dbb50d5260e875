internal import Foundation
internal import Holdfast
internal import HoldfastService
internal import HoldfastTransport

/// What `holdfast init` makes: a configuration that was checked, with the files and directories that it names.
///
/// All files are made in a directory beside their places, and the configuration is checked there, before anything is put in
/// place; the configuration comes last.
struct ServiceSetup {
    struct SigningKey {
        var file: String
        var keyID: String
        var teamID: String
    }

    struct Certificate {
        var file: String
        var key: String?
        var passphraseFile: String?
    }

    /// Absolute.
    var directory: String
    /// Absolute.
    var journal: String
    var topics: [String]
    var endpoint: String
    var trust: String?
    var signingKey: SigningKey?
    var certificate: Certificate?
    /// Addresses to listen on; nil for none.
    var http2: String?
    var binary: String?
    var feedback: String?
    var admin: String?
    /// More that the server's certificate stands for.
    var names: [String] = []
    /// The sender that gets a certificate; nil for none.
    var client: String?
    /// As whom the service runs, where that is another user than this one.
    var account: SystemAccount?
    var replacesExisting = false

    /// The names of its properties are those of the JSON.
    struct Made: Encodable {
        var configuration: String
        var journal: String
        /// Directories and files that were made or replaced, in order.
        var made: [Item] = []
        var user: String?
        var group: String?
        var warnings: [String] = []

        struct Item: Encodable {
            var path: String
            var meaning: String
        }
    }

    var configuration: String { "\(directory)/holdfast.yaml" }

    /// - Throws: ``ToolError``. Nothing is left of what was made until then.
    func make() async throws -> Made {
        let files = files
        try refuseExisting(files)
        var made = Made(configuration: configuration, journal: journal, user: account?.name, group: account?.group.name)
        var directories = MadeDirectories()
        do {
            try makeDirectories(&directories)
            made.made = directories.made
            let staging = "\(directory)/.init-\(UUID().uuidString.prefix(8).lowercased())"
            try Self.failing(staging) { try Self.makeDirectory(staging, FileRights(mode: 0o700)) }
            defer { Self.remove(staging) }
            try await stage(files, in: staging)
            let yaml = text(files).yaml
            made.warnings = try check(yaml, in: staging)
            for file in files where FileManager.default.fileExists(atPath: "\(staging)/\(file.name)") {
                guard let bytes = FileManager.default.contents(atPath: "\(staging)/\(file.name)") else {
                    throw ToolError(.inputOutput, "\(staging)/\(file.name) can't be read again")
                }
                made.made.append(try await put(Array(bytes), file))
            }
            made.made.append(
                try await put(
                    Array(yaml.utf8),
                    File(name: "holdfast.yaml", source: nil, reader: .service, meaning: "the configuration, checked")))
        } catch {
            directories.undo()
            throw error
        }
        return made
    }

    // MARK: The files

    private enum Reader { case owner, service, everybody }

    private struct File {
        /// Within the directory.
        let name: String
        /// Where it is copied from; nil for what is made.
        let source: String?
        let reader: Reader
        let meaning: String
    }

    private static func name(of path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }

    /// Beside the configuration, in the order in which they are put in place.
    private var files: [File] {
        func copied(_ path: String?, _ reader: Reader, _ meaning: String) -> File? {
            path.map { File(name: Self.name(of: $0), source: Self.absolute($0), reader: reader, meaning: meaning) }
        }
        func made(_ name: String, _ reader: Reader, _ meaning: String) -> File {
            File(name: "tls/\(name)", source: nil, reader: reader, meaning: meaning)
        }
        let given = [
            copied(signingKey?.file, .service, "the key that signs provider tokens, copied"),
            copied(certificate?.file, .service, "the certificate for the push service, copied"),
            copied(certificate?.key, .service, "its key, copied"),
            copied(certificate?.passphraseFile, .service, "its passphrase, copied"),
            copied(trust, .everybody, "the certificates to trust, copied"),
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

    private func text(_ files: [File]) -> SetupText {
        SetupText(
            plan: self, key: signingKey.map { Self.name(of: $0.file) },
            certificate: certificate.map { Self.name(of: $0.file) },
            certificateKey: certificate?.key.map(Self.name), passphrase: certificate?.passphraseFile.map(Self.name),
            trust: trust.map(Self.name),
            journal: Self.parent(journal) == directory ? Self.name(of: journal) : journal)
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    private static func parent(_ path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().standardizedFileURL.path
    }

    /// - Throws: ``ToolError`` that names all that is in the way.
    private func refuseExisting(_ files: [File]) throws(ToolError) {
        let names = files.map(\.name) + ["holdfast.yaml"]
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ToolError(.usage, "two of the files are called \(twice): rename one")
        }
        for file in files {
            guard let source = file.source, !FileManager.default.isReadableFile(atPath: source) else { continue }
            let isThere = FileManager.default.fileExists(atPath: source)
            throw ToolError(
                isThere ? .noPermission : .noInput,
                "\(source) \(isThere ? "may not be read by this user" : "does not exist")")
        }
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

    /// Copies and makes them in `staging`.
    private func stage(_ files: [File], in staging: String) async throws {
        let manager = FileManager.default
        for file in files {
            guard let source = file.source else { continue }
            try Self.failing("\(directory)/\(file.name)") {
                try manager.copyItem(
                    atPath: URL(fileURLWithPath: source).resolvingSymlinksInPath().path,
                    toPath: "\(staging)/\(file.name)")
                try FileRights(mode: 0o600).apply(to: "\(staging)/\(file.name)")
            }
        }
        let tls = "\(staging)/tls"
        try Self.failing(tls) { try Self.makeDirectory(tls, FileRights(mode: 0o700)) }
        for name in ["ca.pem", "ca.key"] where manager.fileExists(atPath: "\(directory)/tls/\(name)") {
            try Self.failing("\(directory)/tls/\(name)") {
                try manager.copyItem(atPath: "\(directory)/tls/\(name)", toPath: "\(tls)/\(name)")
            }
        }
        _ = try await LocalCertificates(directory: tls, names: names, client: client, replacesExisting: true).make()
    }

    /// The same check as that of `serve --check`.
    ///
    /// - Returns: warnings.
    private func check(_ yaml: String, in staging: String) throws -> [String] {
        let configuration: HoldfastConfiguration
        do throws(ConfigError) {
            configuration = try HoldfastConfiguration(yaml: yaml, named: self.configuration, relativeTo: staging)
        } catch {
            throw ToolError(.configuration, "nothing was made, since " + error.heading, mistakes: error.lines)
        }
        // Beside the configuration it is not to be looked for in the staging directory.
        var checked = configuration
        checked.journal.path = journal
        let (report, status) = ServiceCheck(checked, json: false).examine()
        guard report.usable else {
            throw ToolError(
                status, "nothing was made, since the configuration can't be served:", mistakes: report.mistakes)
        }
        return report.warnings
    }

    private func put(_ bytes: [UInt8], _ file: File) async throws(ToolError) -> Made.Item {
        let partial = try PrivateFile("\(directory)/\(file.name)", replacesExisting: true)
        do throws(ToolError) {
            try partial.write(bytes)
            try await partial.finish(rights: rights(for: file.reader))
        } catch {
            partial.discard()
            throw error
        }
        return Made.Item(path: "\(directory)/\(file.name)", meaning: file.meaning)
    }

    private func rights(for reader: Reader) -> FileRights {
        switch reader {
        case .owner: FileRights(mode: 0o600)
        case .service:
            account.map { FileRights(userID: 0, groupID: $0.group.id, mode: 0o640) } ?? FileRights(mode: 0o600)
        case .everybody: FileRights(mode: 0o644)
        }
    }

    // MARK: The directories

    /// Those that were made, with what each is for.
    private struct MadeDirectories {
        var made: [Made.Item] = []

        /// Removes them, if nothing is in them.
        func undo() {
            for item in made.reversed() {
                guard (try? FileManager.default.contentsOfDirectory(atPath: item.path))?.isEmpty == true else {
                    continue
                }
                ServiceSetup.remove(item.path)
            }
        }
    }

    private func makeDirectories(_ made: inout MadeDirectories) throws {
        let readable =
            account.map { FileRights(userID: 0, groupID: $0.group.id, mode: 0o750) } ?? FileRights(mode: 0o700)
        let own =
            account.map { FileRights(userID: $0.userID, groupID: $0.group.id, mode: 0o700) } ?? FileRights(mode: 0o700)
        let parent = Self.parent(journal)
        let wanted =
            [
                (directory, readable, "the directory of the configuration"),
                ("\(directory)/tls", readable, "the directory of the certificates"),
            ]
            + (parent == directory ? [] : [(parent, own, "the directory of the journal")])
        for (path, rights, meaning) in wanted {
            if !FileManager.default.fileExists(atPath: path) {
                try Self.failing(path) {
                    let above = Self.parent(path)
                    if !FileManager.default.fileExists(atPath: above) {
                        try FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: true)
                    }
                    try Self.makeDirectory(path, rights)
                }
                made.made.append(.init(path: path, meaning: meaning))
            }
            try refuseObstacle(on: path)
        }
        guard let account, !FileManager.default.fileExists(atPath: journal) || PathOwner(journal)?.userID == 0 else {
            return
        }
        if FileManager.default.fileExists(atPath: journal) {
            throw ToolError(
                .noPermission,
                "\(journal) is root's, and the service runs as \(account.name): `chown -R \(account.name): \(journal)`, or "
                    + "name another --journal")
        }
        if let owner = PathOwner(parent), !owner.allows(account, 0o3) {
            throw ToolError(
                .noPermission,
                "user \(account.name) can't make the journal in \(parent) (\(owner.description)): "
                    + "`chown \(account.name): \(parent)`, or name another --journal")
        }
    }

    private func refuseObstacle(on path: String) throws(ToolError) {
        guard let account, let obstacle = account.obstacle(on: path) else { return }
        throw ToolError(
            .noPermission,
            """
            user \(account.name) can't enter \(obstacle.path) (\(obstacle.description)): \
            `chgrp \(account.group.name) \(obstacle.path) && chmod g+rx \(obstacle.path)`, or name another directory
            """)
    }

    private static func makeDirectory(_ path: String, _ rights: FileRights) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try rights.apply(to: path)
    }

    private static func remove(_ path: String) {
        do { try FileManager.default.removeItem(atPath: path) } catch {
            Console.standard.warning("\(path) could not be removed: \(FileFailure.words(error))")
        }
    }

    private static func failing(_ path: String, _ body: () throws -> Void) throws(ToolError) {
        do { try body() } catch let error as ToolError { throw error } catch {
            throw ToolError(.cannotOpen, "\(path) can't be made: \(FileFailure.words(error))")
        }
    }
}
