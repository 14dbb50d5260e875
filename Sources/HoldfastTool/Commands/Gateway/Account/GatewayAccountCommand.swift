internal import ArgumentParser
internal import HoldfastFCM
internal import HoldfastService

struct GatewayAccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "Issue, admit, list and revoke the service accounts of senders to Firebase Cloud Messaging.",
        subcommands: [
            GatewayAccountIssueCommand.self, GatewayAccountAdmitCommand.self, GatewayAccountListCommand.self,
            GatewayAccountRevokeCommand.self,
        ])
}

/// The register that a command changes.
struct RegisterOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The register: the file that `gateway.http2.service-accounts` names.", valueName: "file"),
        completion: .file())
    var register: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Who may read the register beside its owner, such as the service's group. (default: run by root, the group of \
            its directory)
            """, valueName: "group"))
    var group: String?

    var path: String { TLSOptions.absolute(register) }

    func reader() throws(ToolError) -> SystemGroup? {
        guard let group else { return SystemGroup.serving(ServiceSetup.parent(register)) }
        guard let found = SystemGroup(named: group) else {
            throw ToolError(.usage, "there is no group \(group.printable(maximumLength: 64).debugDescription)")
        }
        return found
    }

    static func check(projects: [String]) throws {
        guard !projects.isEmpty else { throw ValidationError("--project is missing: which may the account send to?") }
        for project in projects where !ServiceAccount.isProject(project) {
            throw ValidationError("--project \(project.prefix(64).debugDescription) is no project id.")
        }
    }
}

/// A service account, for people and as JSON.
struct AccountRow: Encodable {
    var account: String
    var key: String
    var projects: [String]
    /// Where it gets access tokens; nil for a key of Google's, whose sender looks for Google.
    var tokenURI: String?
    /// The sender's file, where one was written.
    var file: String?

    var text: String {
        "\(account)  key \(key.prefix(12))…  projects \(projects.joined(separator: ", "))  "
            + (tokenURI.map { "tokens from \($0)" } ?? "a key of Google's")
    }
}
