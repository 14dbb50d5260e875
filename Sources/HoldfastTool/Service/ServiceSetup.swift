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
            let lock: SetupLock
            do throws(ToolError) { lock = try SetupLock(directory) } catch {
                // Another is at work in what was made here, and has it from now on.
                directories = MadeDirectories()
                throw error
            }
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

    private static func makeDirectory(_ path: String, _ rights: FileRights) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try rights.apply(to: path)
    }

    static func remove(_ path: String) {
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
