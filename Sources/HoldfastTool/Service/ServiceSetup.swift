internal import Foundation
internal import Holdfast
internal import HoldfastService
internal import HoldfastTransport

/// Makes the things of `holdfast init`: a configuration that was checked, with the files and directories that it names.
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

    /// The copies to make: the bytes of each file that was named, by its name beside the configuration.
    typealias Sources = [String: [UInt8]]

    /// - Throws: ``ToolError``.
    func sources() throws(ToolError) -> Sources {
        let files = files
        try refuseTwins(files)
        var sources: Sources = [:]
        for file in files {
            if let source = file.source { sources[file.name] = try SetupSource.read(source) }
        }
        try refuseExisting(files)
        return sources
    }

    func make() async throws -> Made { try await make(of: sources()) }

    /// - Throws: ``ToolError``; `CancellationError` before anything is put in place. Nothing is left of what was made until
    ///   then.
    func make(of sources: Sources) async throws -> Made {
        let files = files
        var made = Made(configuration: configuration, journal: journal, user: account?.name, group: account?.group.name)
        var directories = MadeDirectories()
        let staging = "\(directory)/.init-\(UUID().uuidString.prefix(8).lowercased())"
        do {
            try makeDirectories(&directories)
            made.made = directories.made
            let lock = try SetupLock(directory)
            defer { withExtendedLifetime(lock) {} }
            // Another may have been faster.
            try refuseExisting(files)
            SetupDirectory.removeStale(in: directory)
            try Self.failing(staging) { try Self.makeDirectory(staging, FileRights(mode: 0o700)) }
            defer { Self.remove(staging) }
            try await stage(sources, in: staging)
            let yaml = text(files).yaml
            made.warnings = try check(yaml, in: staging).map { named($0, files, staging) }
            try Task.checkCancellation()
            // From here on it goes to the end: half a configuration is worse than one that was not wanted any more.
            made.made += try await Task { try await put(files, yaml, from: staging) }.value
        } catch let error as ToolError {
            directories.undo()
            throw ToolError(
                error.status, named(error.message, files, staging),
                each: error.mistakes.map { named($0, files, staging) })
        } catch {
            directories.undo()
            throw error
        }
        return made
    }

    /// A message, with the files that the user named in the place of their copies.
    private func named(_ text: String, _ files: [File], _ staging: String) -> String {
        files.reduce(text) { text, file in
            file.source.map { text.replacingOccurrences(of: "\(staging)/\(file.name)", with: $0) } ?? text
        }.replacingOccurrences(of: staging, with: directory)
    }

    private func put(_ files: [File], _ yaml: String, from staging: String) async throws -> [Made.Item] {
        var made: [Made.Item] = []
        for file in files where FileManager.default.fileExists(atPath: "\(staging)/\(file.name)") {
            guard let bytes = FileManager.default.contents(atPath: "\(staging)/\(file.name)") else {
                throw ToolError(.inputOutput, "\(staging)/\(file.name) can't be read again")
            }
            made.append(try await put(Array(bytes), file))
        }
        made.append(
            try await put(
                Array(yaml.utf8),
                File(name: "holdfast.yaml", source: nil, reader: .service, meaning: "the configuration, checked")))
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

    /// The name of a file's copy.
    ///
    /// - Parameter role: that of a stream, which has none.
    private static func name(of path: String, as role: String = "") -> String {
        SetupSource.descriptor(of: path) == nil ? URL(fileURLWithPath: path).lastPathComponent : role
    }

    /// Beside the configuration, in the order in which they are put in place.
    private var files: [File] {
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

    private func text(_ files: [File]) -> SetupText {
        SetupText(
            plan: self, key: signingKey.map { Self.name(of: $0.file, as: "AuthKey.p8") },
            certificate: certificate.map { Self.name(of: $0.file, as: "client.pem") },
            certificateKey: certificate?.key.map { Self.name(of: $0, as: "client.key") },
            passphrase: certificate?.passphraseFile.map { Self.name(of: $0, as: "passphrase") },
            trust: trust.map { Self.name(of: $0, as: "trusted.pem") },
            journal: Self.parent(journal) == directory ? Self.name(of: journal) : journal)
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    private static func parent(_ path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().standardizedFileURL.path
    }

    private func refuseTwins(_ files: [File]) throws(ToolError) {
        let names = files.map(\.name) + ["holdfast.yaml"]
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ToolError(.usage, "two of the files are called \(twice): rename one")
        }
    }

    /// - Throws: ``ToolError`` that names all that is in the way.
    private func refuseExisting(_ files: [File]) throws(ToolError) {
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
    private func stage(_ sources: Sources, in staging: String) async throws {
        let manager = FileManager.default
        for (name, bytes) in sources { try await Self.write(bytes, to: "\(staging)/\(name)") }
        let tls = "\(staging)/tls"
        try Self.failing(tls) { try Self.makeDirectory(tls, FileRights(mode: 0o700)) }
        for name in ["ca.pem", "ca.key"] where manager.fileExists(atPath: "\(directory)/tls/\(name)") {
            try await Self.write(try SetupSource.read("\(directory)/tls/\(name)"), to: "\(tls)/\(name)")
        }
        _ = try await LocalCertificates(directory: tls, names: names, client: client, replacesExisting: true).make()
    }

    private static func write(_ bytes: [UInt8], to path: String) async throws(ToolError) {
        let file = try PrivateFile(path)
        try file.write(bytes)
        try await file.finish()
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

    /// The things that were made, each with its purpose.
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
            var places: [String] = []
            defer {
                made.made += places.map { .init(path: $0, meaning: $0 == path ? meaning : "on the way to \(path)") }
            }
            try SetupDirectory.make(path, rights, above: readable, made: &places)
            try refuseObstacle(on: path, meaning == wanted.last?.2 && path == parent ? "--journal" : "--directory")
        }
        if FileManager.default.fileExists(atPath: journal), !SetupDirectory.isDirectory(journal) {
            throw ToolError(.cannotOpen, "\(journal) is not a directory: choose another --journal")
        }
        guard let account, !FileManager.default.fileExists(atPath: journal) || PathOwner(journal)?.userID == 0 else {
            return
        }
        if FileManager.default.fileExists(atPath: journal) {
            throw ToolError(
                .noPermission,
                "\(journal) is root's, and the service runs as \(account.name): "
                    + giveAway(
                        journal, account, wholly: FileManager.default.fileExists(atPath: "\(journal)/entries/data.mdb"))
            )
        }
        if let owner = PathOwner(parent), !owner.allows(account, 0o3) {
            throw ToolError(
                .noPermission,
                "user \(account.name) can't make the journal in \(parent) (\(owner.description)): "
                    + giveAway(parent, account, wholly: false))
        }
    }

    /// Advice that can be followed without harm to what others have there.
    ///
    /// - Parameter wholly: whether it is a journal, whose files go along.
    private func giveAway(_ path: String, _ account: SystemAccount, wholly: Bool) -> String {
        let isEmpty = (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty == true
        guard wholly || isEmpty, !Self.shared.contains(path) else { return "choose another --journal" }
        let command = "chown \(wholly ? "-R " : "")\(account.name): \(ShellText.word(path))"
        return "`\(command)`, or choose another --journal"
    }

    /// Directories of the whole machine, whose rights are not to be changed for a service.
    private static let shared: Set = [
        "/", "/root", "/etc", "/home", "/var", "/var/lib", "/usr", "/opt", "/srv", "/run", "/tmp", "/var/tmp", "/mnt",
    ]

    private func refuseObstacle(on path: String, _ flag: String) throws(ToolError) {
        guard let account, let obstacle = account.obstacle(on: path) else { return }
        let place = ShellText.word(obstacle.path)
        let change =
            Self.shared.contains(obstacle.path)
            ? "" : "`chgrp \(account.group.name) \(place) && chmod g+x \(place)`, or "
        throw ToolError(
            .noPermission,
            """
            user \(account.name) can't enter \(obstacle.path) (\(obstacle.description)): \
            \(change)choose another \(flag)
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
            throw ToolError(making: path, error)
        }
    }
}
