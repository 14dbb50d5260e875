internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One entry, and all that is known of it.",
        discussion: "Exit code 66 when there is no such entry: it was settled, or never given out.")

    @Argument(help: "Its UID.")
    var uid: UInt64

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print the token and the payload whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try show() } }

    private func show() throws -> ToolStatus {
        let path = try journalOptions.path()
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        guard let entry = try reader.entry(UID(uid)) else {
            let next = try reader.status().nextUID
            throw ToolError(
                .noInput,
                uid > 0 && UID(uid) < next
                    ? "\(path) has no entry \(uid) any more: it was settled" : "\(path) never had an entry \(uid)")
        }
        let row = EntryRow(entry, reveal: reveal)
        Console.standard.print(json ? try row.json() : row.text())
        return .ok
    }
}
