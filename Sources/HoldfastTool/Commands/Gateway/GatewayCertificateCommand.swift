internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastService

struct GatewayCertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "Make a local certificate authority and a server certificate, for a first try.",
        discussion: """
            Makes ca.pem and ca.key, a certificate authority, unless the directory has one, and server.pem and \
            server.key, signed by it. With --client it also makes client.pem and client.key, which a sender on another \
            host shows. Clients trust ca.pem. Only their owner can read the keys; run by root, also the group of --group can read \
            server.key, by default the directory's group. Existing files are overwritten only \
            with --replace, which keeps the authority.

            Prints the lines for the configuration and for a client.

            Examples:
              holdfast gateway certificate --directory /etc/holdfast/tls
              holdfast gateway certificate --directory tls --replace \\
                --name push.example.net --client newsletter

            Exit codes: 0 done · 64 a name is not valid · 73 a file exists, or can't be made · 74 the disk is \
            full, or fails · 77 rights are missing.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The directory for the files; made if there is none.
            """, valueName: "dir"), completion: .directory)
    var directory: String

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            A host name or address of the gateway, besides localhost, 127.0.0.1 and ::1; may be repeated.
            """,
            valueName: "host"))
    var name: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Also make a client certificate, for the sender of this name.
            """, valueName: "sender"))
    var client: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Who may read server.key beside its owner, such as the service's group. (default: run by root, the group of \
            the directory)
            """,
            valueName: "group"))
    var group: String?

    @Flag(
        name: .long,
        help: """
            Replace the server's certificate, and with --client the client's.
            """)
    var replace = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        for name in name where name.isEmpty || name.utf8.count > 253 {
            throw ValidationError("--name \(name.prefix(64).debugDescription) is no host name.")
        }
        if let client, !(1...64).contains(client.count) { throw ValidationError("--client takes 1 to 64 characters.") }
    }

    func run() async throws { try await reporting { try await make() } }

    private func reader(in folder: String) throws(ToolError) -> SystemGroup? {
        guard let group else { return SystemGroup.serving(folder) }
        guard let found = SystemGroup(named: group) else {
            throw ToolError(.usage, "there is no group \(group.printable(maximumLength: 64).debugDescription)")
        }
        return found
    }

    private func make() async throws -> ToolStatus {
        let folder = TLSOptions.absolute(directory)
        let made = try await LocalCertificates(
            directory: folder, names: name, client: client, replacesExisting: replace, group: try reader(in: folder)
        ).make()
        Console.standard.print(json ? try JSONOutput.line(made) : Self.text(made))
        return .ok
    }

    private static func text(_ made: LocalCertificates.Made) -> String {
        let tls = "certificate: \(SetupText.scalar(made.certificate)), key: \(SetupText.scalar(made.key))"
        var lines = [
            made.isNewAuthority
                ? "\(made.authority): a new authority, which clients are to trust"
                : "\(made.authority): the authority that was there",
            "\(made.certificate): for \(made.names.joined(separator: ", ")); until \(made.goodUntil)",
        ]
        lines.append(
            "\(made.key): "
                + (made.group.map { "readable by its owner and by group \($0)" } ?? "readable by its owner alone"))
        if let client = made.client { lines.append("\(client): for a client, with \(made.clientKey ?? "")") }
        lines += [
            "", "For the configuration:", "", "  gateway:", "    http2: {listen: \"127.0.0.1:2197\", \(tls)}",
            "    binary: {listen: \"127.0.0.1:2195\", \(tls), topic: com.example.app}",
            "    feedback: {listen: \"127.0.0.1:2196\", \(tls), topic: com.example.app}",
        ]
        if made.client != nil { lines += ["", "and with it, for clients elsewhere: clients: \(made.authority)"] }
        lines += [
            "", "For a client: host localhost, port 2197, authority \(made.authority); for example", "",
            "  curl --http2 --cacert \(ShellText.word(made.authority)) "
                + (made.client.map { "--cert \(ShellText.word($0)) --key \(ShellText.word(made.clientKey ?? "")) " }
                    ?? "")
                + "-H 'apns-topic: com.example.app' -d '{\"aps\":{\"alert\":\"Hi\"}}' \\",
            "    https://localhost:2197/3/device/00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
        ]
        return lines.joined(separator: "\n")
    }
}
