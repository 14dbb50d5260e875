internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastService

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a checked configuration, with the certificates, keys and directories that it needs.",
        discussion: """
            Asks on a terminal for what no flag says. Copies the key, makes the gateway's certificates, checks the \
            configuration as `serve --check` does, and writes it into place at the end. Prints each thing that it made, \
            and what to type next.

            Run by root, it prepares the installed service: /etc/holdfast/holdfast.yaml, which all commands read, a \
            journal in /var/lib/holdfast, and rights for the user that the service runs as. Run by another user, all is \
            that user's own, in the working directory.

            What exists is left alone; --replace replaces all but the certificate authority and the journal.

            Examples:
              holdfast init
              holdfast init --topic com.example.app --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ
              holdfast init --directory try --topic com.example.app --endpoint https://127.0.0.1:8443 \\
                --trust mock/ca.pem

            Exit codes: 0 done · 64 flags are missing, and there is no terminal · 66 a file does not exist, or is none · 73 there is a \
            configuration already, or another init at work · 74 the disk is full, or fails · 77 rights are missing, or the \
            file system is read-only · 78 the configuration can't be served · 130 and 143 ended by SIGINT and SIGTERM, \
            with nothing left.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp("A topic of the route, such as the app's bundle id; may be repeated.", valueName: "topic"))
    var topic: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The push service: `production`, `sandbox` or a URL. (default: production)", valueName: "url"))
    var endpoint: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Apple's .p8 file, which signs provider tokens; it is copied.", valueName: "p8"),
        completion: .file(extensions: ["p8"]))
    var key: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The key's identifier. (default: that in the name AuthKey_<id>.p8)", valueName: "id"))
    var keyID: String?

    @Option(name: .long, help: ArgumentHelp("The team's identifier.", valueName: "id"))
    var teamID: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The client certificate, instead of a key: PEM or .p12; it is copied.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "p12", "pfx"]))
    var certificate: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The key of --certificate, PEM; it is copied. (default: in the same file)", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var certificateKey: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file whose first line is the passphrase of --certificate or its key; it is copied.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A PEM file with the certificates to trust, instead of the system's; it is copied.", valueName: "ca.pem"),
        completion: .file(extensions: ["pem"]))
    var trust: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen for senders over HTTP/2; `none` for nowhere.", valueName: "host:port"))
    var http2 = "127.0.0.1:2197"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where to listen for senders on the binary protocol. (default: nowhere)", valueName: "host:port"))
    var binary: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen for readers of feedback. (default: nowhere)", valueName: "host:port"))
    var feedback: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Where to serve health and metrics; `none` for nowhere.", valueName: "host:port"))
    var admin = "127.0.0.1:2199"

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp(
            "A host name or address of the gateway, besides localhost, 127.0.0.1 and ::1; may be repeated.",
            valueName: "host"))
    var name: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Also make a client certificate, for the sender of this name, and let senders show one.",
            valueName: "sender"))
    var client: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration's directory. (default: run by root /etc/holdfast, otherwise the working directory)",
            valueName: "dir"), completion: .directory)
    var directory: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The journal's directory, which `serve` makes. (default: run by root /var/lib/holdfast/push.journal, otherwise \
            push.journal beside the configuration)
            """,
            valueName: "dir"), completion: .directory)
    var journal: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The user that the service runs as. (default: run by root `holdfast`, otherwise this user)",
            valueName: "user"))
    var user: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The group that reads keys and the configuration. (default: the user's)", valueName: "group"))
    var group: String?

    @Flag(name: .long, help: "Replace what is there, but for the certificate authority and the journal.")
    var replace = false

    @Flag(name: .long, help: "Print one JSON object, and ask nothing.")
    var json = false

    func validate() throws {
        if key != nil, certificate != nil { throw ValidationError("--key and --certificate exclude each other.") }
        if key == nil, let flag = keyID.map({ _ in "--key-id" }) ?? teamID.map({ _ in "--team-id" }) {
            if certificate != nil { throw ValidationError("\(flag) is for --key, and --certificate is given.") }
        }
        if certificate == nil,
            let flag = certificateKey.map({ _ in "--certificate-key" })
                ?? passphraseFile.map({ _ in "--passphrase-file" })
        {
            throw ValidationError("\(flag) needs --certificate.")
        }
        let texts = [
            ("--endpoint", endpoint), ("--key", key), ("--key-id", keyID), ("--team-id", teamID),
            ("--certificate", certificate), ("--trust", trust), ("--directory", directory), ("--journal", journal),
            ("--user", user), ("--group", group), ("--client", client),
        ]
        if let (flag, _) = texts.first(where: { $0.1?.isEmpty == true }) { throw ValidationError("\(flag) is empty.") }
        for (flag, address) in [
            ("--http2", Self.address(http2)), ("--binary", binary), ("--feedback", feedback),
            ("--admin", Self.address(admin)),
        ] {
            guard let address else { continue }
            do throws(GatewayError) { _ = try ListenAddress(address) } catch {
                throw ValidationError("\(flag): \(error.message).")
            }
        }
        for name in name where name.isEmpty || name.utf8.count > 253 {
            throw ValidationError("--name \(name.prefix(64).debugDescription) is no host name.")
        }
        if let client, client.count > 64 { throw ValidationError("--client takes 1 to 64 characters.") }
    }

    func run() async throws { try await reporting { try await make() } }

    private static func address(_ text: String) -> String? { text == "none" ? nil : text }

    private func make() async throws -> ToolStatus {
        let answers = try InitAnswers(self)
        let isRoot = geteuid() == 0
        let folder = TLSOptions.absolute(directory ?? (isRoot ? "/etc/holdfast" : "."))
        let account = try account(isRoot: isRoot)
        let setup = ServiceSetup(
            directory: folder,
            journal: journal.map { TLSOptions.absolute($0) }
                ?? (account == nil ? "\(folder)/push.journal" : "/var/lib/holdfast/push.journal"),
            topics: answers.topics, endpoint: answers.endpoint, trust: trust, signingKey: answers.signingKey,
            certificate: answers.certificate, http2: Self.address(http2), binary: binary, feedback: feedback,
            admin: Self.address(admin), names: name, client: client, account: account, replacesExisting: replace)
        let sources = try setup.sources()
        let made = try await EndingSignals.finishing { try await setup.make(of: sources) }
        for warning in made.warnings { Console.standard.warning(warning) }
        Console.standard.print(json ? try JSONOutput.line(made) : Self.text(made, setup))
        return .ok
    }

    /// - Returns: nil for this user's own.
    private func account(isRoot: Bool) throws -> SystemAccount? {
        let name = user ?? (isRoot ? "holdfast" : nil)
        guard var account = name.flatMap({ SystemAccount(named: $0) }) else {
            guard let name else {
                if group != nil {
                    throw ValidationError("--group is for root, who prepares a service of another user.")
                }
                return nil
            }
            throw ToolError(
                .usage,
                "there is no user \(name.printable(maximumLength: 64).debugDescription): `useradd --system --home-dir "
                    + "/var/lib/holdfast --shell /usr/sbin/nologin \(name.printable(maximumLength: 64))` makes one, or "
                    + "name another --user")
        }
        if let group {
            guard let found = SystemGroup(named: group) else {
                throw ToolError(.usage, "there is no group \(group.printable(maximumLength: 64).debugDescription)")
            }
            account.group = found
        }
        guard account.userID != geteuid() else { return nil }
        guard isRoot else {
            throw ToolError(.noPermission, "only root can give files to \(account.name): leave --user out, or be root")
        }
        return account
    }

    private static func text(_ made: ServiceSetup.Made, _ setup: ServiceSetup) -> String {
        let rows = made.made.map { ($0.path, "", $0.meaning) }
        var lines = ["Made:", DeliverySummary.table(rows)]
        if let user = made.user, let group = made.group {
            lines.append("The service runs as user \(user); what it reads is root's, and group \(group) may read it.")
        }
        let isStandard = made.configuration == HoldfastConfiguration.standardFile
        let flag = isStandard ? "" : " --config \(ShellText.word(made.configuration))"
        var next: [(String, String)] = []
        if let user = made.user {
            if Self.hasUnit, flag.isEmpty, user == "holdfast" {
                next.append(
                    ("systemctl enable --now holdfast", "start the service, now and at each start of the machine"))
            }
            next.append(
                (
                    "runuser -u \(ShellText.word(user)) -- holdfast serve\(flag)",
                    next.isEmpty ? "start the service" : "or without systemd"
                ))
        } else {
            next.append(("holdfast serve\(flag)", "start it; Ctrl-C ends it"))
        }
        next.append(("holdfast serve --check\(flag)", "what is served; also after each change"))
        next.append(("holdfast journal status\(flag)", "what waits, and why"))
        lines += [DemoText.next(next)]
        if let address = setup.http2, setup.client == nil, let listen = try? ListenAddress(address), listen.isLoopback {
            let topic = setup.topics.first.map { "-H \(ShellText.quoted("apns-topic: \($0)")) " } ?? ""
            lines += [
                "", "A first notification, in another terminal:", "",
                "  curl --http2 --cacert \(ShellText.word("\(setup.directory)/tls/ca.pem")) \(topic)-d '{\"aps\":{\"alert\":\"Hi\"}}' \\",
                "    https://\(listen.host):\(listen.port)/3/device/"
                    + "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            ]
        }
        return lines.joined(separator: "\n")
    }

    private static var hasUnit: Bool {
        ["/etc", "/lib", "/usr/lib"].contains {
            FileManager.default.fileExists(atPath: "\($0)/systemd/system/holdfast.service")
        }
    }
}
