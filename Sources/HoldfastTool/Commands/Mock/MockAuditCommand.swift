internal import ArgumentParser

struct MockAuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Compare a mock's ledger with the input: count lost notifications and duplicates.",
        discussion: """
            Notifications of the input are matched by their apns-id, and by their token or address if they have none. Ledgers \
            of `mock binary` have no apns-id: there, all are matched by payload and token. Ledgers of `mock fcm` have it where \
            the route has `id-key: holdfast-id`; other messages are matched by their content and target.

            Each ledger is of one mock. An input for both services takes the ledgers of both. A last line without an end, as \
            a killed mock leaves it, counts as damaged, and not as taken.

            Examples:
              holdfast mock audit ledger.ndjson --input notifications.ndjson \\
                --allow-duplicates 2000
              holdfast mock audit apns.ndjson fcm.ndjson --input both.ndjson

            Exit codes: 0 nothing is lost, and there are no more duplicates than allowed · 1 otherwise · 65 a file is no \
            ledger, has lines of two services, or is of a service that no line of the input is for.
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
        for damage in report.damages { Console.standard.warning(damage) }
        Console.standard.print(json ? try JSONOutput.line(report) : report.text())
        return report.lost == 0 && report.duplicates <= allowDuplicates ? .ok : .notAllConfirmed
    }
}
