internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastGateway

struct GatewayAccountIssueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue",
        abstract: "Make a service account for a sender.",
        discussion: """
            Writes the file that Google's libraries read (mode 0600), with a new key and with the gateway's own token \
            endpoint, and puts the public half of the key into the register, which is made if there is none. A running \
            gateway takes the register up within 10 s. Give the file to the sender, and remove it here.

            Examples:
              holdfast gateway account issue newsletter --register /etc/holdfast/accounts.json \\
                --project my-app --url https://push.example.net:2197
              holdfast gateway account issue newsletter --register accounts.json --project my-app \\
                --url https://push.example.net:2197 --replace

            Exit codes: 0 done · 64 a name is not valid · 73 a file exists, or can't be made · 74 the disk is \
            full, or fails · 77 rights are missing.
            """)

    @Argument(help: ArgumentHelp("The sender: letters, digits, - . and _.", valueName: "sender"))
    var sender: String

    @OptionGroup var options: RegisterOptions

    @Option(name: .long, help: ArgumentHelp("A project that it may send to; may be repeated.", valueName: "id"))
    var project: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("The gateway, as the sender reaches it: https://HOST[:PORT].", valueName: "url"))
    var url: String

    @Option(
        name: .long, help: ArgumentHelp("The sender's file. (default: SENDER.json)", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(name: .long, help: "Replace the account's keys and its file: what the sender has is refused from then on.")
    var replace = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try RegisterOptions.check(projects: project)
        let isName =
            (1...64).contains(sender.utf8.count)
            && sender.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
        guard isName else { throw ValidationError("The sender has 1 to 64 letters, digits, - . and _.") }
    }

    func run() async throws { try await reporting { try await issue() } }

    private func issue() async throws -> ToolStatus {
        let tokenURI = try IssuedAccount.tokenURI(url)
        var register = try SenderRegister(options.path, makes: true)
        let email = IssuedAccount.email(sender)
        let path = TLSOptions.absolute(output ?? "\(sender).json")
        if !replace {
            guard register.accounts(of: email).isEmpty else {
                throw ToolError(.cannotOpen, "\(register.path) has \(email) already: --replace gives it a new key")
            }
            guard !FileManager.default.fileExists(atPath: path) else {
                throw ToolError(.cannotOpen, "\(path) is there already: give another --output, or --replace")
            }
        }
        let issued = try IssuedAccount(email: email, projects: project, tokenURI: tokenURI)
        _ = register.remove(email)
        register.add(issued.account)
        // The register last: an account without its file is of no use to anybody.
        try await SenderRegister.write(issued.file, to: path, rights: nil)
        try await register.write(group: try options.reader())
        let row = AccountRow(
            account: email, key: issued.account.keyID, projects: project, tokenURI: tokenURI, file: path)
        Console.standard.print(json ? try JSONOutput.line(row) : Self.text(row, register))
        return .ok
    }

    private static func text(_ row: AccountRow, _ register: SenderRegister) -> String {
        var lines = [
            "\(row.file ?? ""): for the sender, readable by its owner alone; give it to the sender, and remove it here",
            "\(register.path): \(register.isNew ? "a new register, which" : "the register, which") knows \(row.account)",
        ]
        if register.isNew {
            lines += [
                "", "For the configuration:", "", "  gateway:",
                "    http2: {service-accounts: \(SetupText.scalar(register.path)), …}",
            ]
        }
        return lines.joined(separator: "\n")
    }
}
