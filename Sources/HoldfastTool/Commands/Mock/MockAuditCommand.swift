internal import ArgumentParser

struct MockAuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Compare a mock's ledger with the input: count lost notifications and duplicates.",
        discussion: """
            Notifications of the input are matched by their apns-id, and by their token if they have none. Ledgers of \
            `mock binary` have no apns-id: there, all are matched by payload and token.

            Example:
              holdfast mock audit ledger.ndjson --input notifications.ndjson \\
                --allow-duplicates 2000

            Exit codes: 0 nothing is lost, and there are no more duplicates than allowed · 1 otherwise.
            """)

    @Argument(help: ArgumentHelp("The ledgers of one or several mocks.", valueName: "ledger"), completion: .file())
    var ledgers: [String]

    @Option(name: .long, help: ArgumentHelp("The file that was sent.", valueName: "file"), completion: .file())
    var input: String

    @Option(name: .long, help: ArgumentHelp("The most duplicates that are allowed.", valueName: "count"))
    var allowDuplicates = 0

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await audit() } }

    private func audit() async throws -> ToolStatus {
        let report = try await AuditReport(comparing: InputFile(input), with: ledgers.map { try InputFile($0) })
        Console.standard.print(json ? try JSONOutput.line(report) : report.text())
        return report.lost == 0 && report.duplicates <= allowDuplicates ? .ok : .notAllConfirmed
    }
}
