internal import ArgumentParser
internal import Holdfast
internal import HoldfastFCM
internal import HoldfastGateway
internal import HoldfastService

struct GatewayAccountAdmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admit",
        abstract: "Admit a sender by the service account of Google's that it has.",
        discussion: """
            Puts the public half of the key into the register, for a sender whose file must not change: it then looks for \
            oauth2.googleapis.com and fcm.googleapis.com, whose names have to lead to the gateway. The private half is read \
            and not kept.

            Example:
              holdfast gateway account admit key.json --register /etc/holdfast/accounts.json --project my-app

            Exit codes: as of `gateway account issue`.
            """)

    @Argument(help: ArgumentHelp("The file of the service account.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var options: RegisterOptions

    @Option(
        name: .long,
        help: ArgumentHelp("A project that it may send to; may be repeated. (default: its own)", valueName: "id"))
    var project: [String] = []

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws { if !project.isEmpty { try RegisterOptions.check(projects: project) } }

    func run() async throws { try await reporting { try await admit() } }

    private func admit() async throws -> ToolStatus {
        let read: ServiceAccount
        do throws(FCMConfigurationError) {
            read = try ServiceAccount(.file(TLSOptions.absolute(file)))
        } catch {
            throw ToolError(.cannotOpen, "\(error)")
        }
        var register = try SenderRegister(options.path, makes: true)
        let account = ServiceAccountRegister.Account(
            clientEmail: read.clientEmail, keyID: read.keyID, publicKey: try Self.publicKey(read),
            projects: project.isEmpty ? [read.projectID] : project)
        guard !register.accounts(of: account.clientEmail).contains(where: { $0.publicKey == account.publicKey }) else {
            throw ToolError(
                .cannotOpen,
                "\(register.path) has this key of \(account.clientEmail) already: revoke it first, to change its projects"
            )
        }
        register.add(account)
        try await register.write(group: try options.reader())
        let row = AccountRow(account: account.clientEmail, key: account.keyID, projects: account.projects)
        Console.standard.print(json ? try JSONOutput.line(row) : row.text)
        return .ok
    }

    private static func publicKey(_ account: ServiceAccount) throws(ToolError) -> String {
        do throws(FCMConfigurationError) {
            return String(decoding: try account.publicKeyPEM(), as: UTF8.self)
        } catch {
            throw ToolError(.cannotOpen, "\(error)")
        }
    }
}

struct GatewayAccountListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the accounts of a register, and their projects.",
        discussion: """
            Example:
              holdfast gateway account list --register /etc/holdfast/accounts.json

            Exit codes: 0 done · 73 the register can't be read.
            """)

    @OptionGroup var options: RegisterOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws {
        try await reporting {
            for account in try SenderRegister(options.path, makes: false).register.accounts {
                let row = AccountRow(
                    account: account.clientEmail, key: account.keyID, projects: account.projects,
                    tokenURI: account.tokenURI)
                Console.standard.print(json ? try JSONOutput.line(row) : row.text)
            }
            return .ok
        }
    }
}

struct GatewayAccountRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take an account out of the register, with all its keys.",
        discussion: """
            A running gateway refuses its access tokens within 10 s.

            Example:
              holdfast gateway account revoke newsletter --register /etc/holdfast/accounts.json

            Exit codes: 0 done · 66 there is no such account · 73 the register can't be read or made · 74 the disk is full, \
            or fails.
            """)

    @Argument(
        help: ArgumentHelp("The sender, or the whole name of an account of Google's.", valueName: "sender"))
    var sender: String

    @OptionGroup var options: RegisterOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    private struct Form: Encodable {
        var account: String
        var keys: Int
    }

    func run() async throws { try await reporting { try await revoke() } }

    private func revoke() async throws -> ToolStatus {
        var register = try SenderRegister(options.path, makes: false)
        let email = sender.contains("@") ? sender : IssuedAccount.email(sender)
        let keys = register.remove(email)
        guard keys > 0 else {
            throw ToolError(
                .noInput,
                "\(register.path) has no \(email.printable(maximumLength: 256)): `list` names those that it has")
        }
        try await register.write(group: try options.reader())
        Console.standard.print(
            json
                ? try JSONOutput.line(Form(account: email, keys: keys))
                : "\(email) is revoked: a running gateway refuses it within 10 s")
        return .ok
    }
}
