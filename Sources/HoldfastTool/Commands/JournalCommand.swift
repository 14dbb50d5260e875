internal import ArgumentParser

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Look into a journal, at rest or in use.",
        subcommands: [JournalStatusCommand.self, JournalListCommand.self, JournalShowCommand.self])
}
