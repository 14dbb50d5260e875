internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastService

/// The files that a service reads, and whether it may.
struct FileFacts: Sendable {
    struct File: Hashable, Sendable {
        var path: String
        /// The directory on the way that the service's user can't enter, or the file that it can't read.
        var obstacle: String?
        /// Whether nothing has that path.
        var isMissing = false
    }

    /// As whom the service runs; nil where nobody says, and where it is root.
    var account: String?
    var files: [File]
    /// Secrets that others may read.
    var opened: [String]

    var findings: [DoctorFinding] {
        let hidden = files.compactMap { file -> DoctorFinding? in
            file.obstacle.map { obstacle in
                .fault(
                    .files, "rights", file.path, "\(who) can't read it: \(obstacle)",
                    next: file.isMissing
                        ? "put it there (a copy, if it is gone), or name another in the configuration"
                        : "give that user's group the right to read it, and to enter the directories on the way")
            }
        }
        let secrets = opened.map { words -> DoctorFinding in
            // The words name the command behind their last colon.
            let parts = words.split(separator: ": `", maxSplits: 1).map(String.init)
            return .warning(
                .files, "secrets", nil, parts[0], next: parts.count > 1 ? "`" + parts[1] : "close it to others")
        }
        guard hidden.isEmpty, secrets.isEmpty, !files.isEmpty else { return hidden + secrets }
        return [
            .ok(
                .files, "rights", nil,
                "\(who) can read all \(Format.plural(files.count, "file")), and secrets are closed to others")
        ]
    }
}

extension FileFacts {
    private var who: String { account.map { "the service's user \($0)" } ?? "this user" }

    /// Files that the service's user can't read, and this one can: root does not notice them. For people, a sentence each.
    var hiddenFromService: [String] {
        guard account != nil else { return [] }
        return files.compactMap { file in
            file.obstacle.map {
                "\(who) can't read \(file.path), and a service that starts now ends with code 78: \($0). "
                    + (file.isMissing
                        ? "Put it there, or name another in the configuration"
                        : "Give that user the right to read it (`chown`, or `chgrp` and `chmod 640`), and to enter the "
                            + "directories on the way")
            }
        }
    }
}

/// Finds out whose files those of a configuration are.
enum FileLook {
    /// As whom the service runs: whose journal it is, or as the unit says; nil where nobody says.
    static func serviceUser(journal: String?, _ unit: UnitFacts?) -> SystemAccount? {
        if let journal, let owner = PathOwner(journal) { return SystemAccount(id: owner.userID) }
        return unit?.user.flatMap { SystemAccount(named: $0) }
    }

    /// Of a journal's key that is a credential of systemd's: whether the unit gives it; nil for all others.
    static func credential(_ configuration: HoldfastConfiguration, _ unit: UnitFacts?) -> DoctorFinding? {
        guard let name = configuration.journal.withheldCredential, let unit else { return nil }
        if unit.credentials.contains(name) {
            return .ok(.files, "credential", name, "\(unit.path) gives it to the service")
        }
        guard !unit.importsCredentials else { return nil }
        return .fault(
            .files, "credential", name,
            "journal.key-file is a credential, and \(unit.path) gives the service none of this name: it does not start",
            next: "add `LoadCredential=\(name):FILE` to the unit, and `systemctl daemon-reload`")
    }

    /// - Parameter user: as whom the service runs; nil for this user.
    static func look(_ configuration: HoldfastConfiguration, user: SystemAccount?) -> FileFacts {
        let account = user.flatMap { $0.userID == 0 || $0.userID == geteuid() ? nil : $0 }
        let files = paths(configuration).map { path in
            let hindrance = account.flatMap { obstacle(path, $0) }
            return FileFacts.File(
                path: path, obstacle: hindrance ?? missing(path), isMissing: hindrance == nil && !exists(path))
        }
        return FileFacts(account: account?.name, files: files, opened: configuration.openedSecrets)
    }

    private static func missing(_ path: String) -> String? {
        FileManager.default.isReadableFile(atPath: path)
            ? nil : exists(path) ? "permission denied" : "there is no such file"
    }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private static func obstacle(_ path: String, _ account: SystemAccount) -> String? {
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        if let owner = account.obstacle(on: URL(fileURLWithPath: real).deletingLastPathComponent().path) {
            return "\(owner.path) is \(owner.description)"
        }
        guard let owner = PathOwner(real), !owner.allows(account, 0o4) else { return nil }
        return "it is \(owner.description)"
    }

    /// All files that it names, each once, in its order.
    private static func paths(_ configuration: HoldfastConfiguration) -> [String] {
        var paths: [String] = [configuration.file].compactMap(\.self)
        for route in configuration.routes {
            paths +=
                [route.trust, route.signingKey?.file, route.firebase?.serviceAccount].compactMap(\.self)
                + (route.certificate?.identity.files ?? [])
        }
        for (_, listener) in configuration.gateway.listeners {
            paths += listener.tls?.identity.files ?? []
            if case .file(let path)? = listener.tls?.clientAuthorities { paths.append(path) }
            if case .file(let path)? = listener.tls?.clientRevocations { paths.append(path) }
        }
        if let accounts = configuration.gateway.serviceAccounts { paths.append(accounts) }
        for webhook in configuration.webhooks { paths += [webhook.secretFile, webhook.trust].compactMap(\.self) }
        // A credential of systemd's is there for the service alone.
        let journalKey = configuration.journal.keyFile.flatMap { $0.hasPrefix("$") ? nil : $0 }
        paths += [configuration.admin.tokenFile, journalKey].compactMap(\.self)
        var seen: Set<String> = []
        return paths.filter { !$0.isEmpty && seen.insert($0).inserted }
    }
}
