internal import ArgumentParser

struct MockAuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Compare a mock's ledger with what was to be sent: accepted, lost, duplicates.",
        discussion: """
            Notifications of the input that have an apns-id are looked for by it, the others by their token; in ledgers of \
            `mock binary`, which has no apns-id, all are looked for by payload and token. Exit code 0 when nothing is lost and the duplicates are at most --allow-duplicates; otherwise 1.

            Example:
              holdfast mock audit ledger.ndjson --input notifications.ndjson --allow-duplicates 2000
            """)

    @Argument(help: ArgumentHelp("Ledgers of one or several mocks.", valueName: "ledger"), completion: .file())
    var ledgers: [String]

    @Option(name: .long, help: ArgumentHelp("The NDJSON that was sent.", valueName: "file"), completion: .file())
    var input: String

    @Option(name: .long, help: ArgumentHelp("How many duplicates are all right.", valueName: "count"))
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
