internal import ArgumentParser

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Look into a journal, take from it, put into it and care for it.",
        subcommands: [
            JournalStatusCommand.self, JournalListCommand.self, JournalShowCommand.self, JournalDropCommand.self,
            JournalExportCommand.self, JournalImportCommand.self, JournalQuarantineCommand.self,
            JournalVerifyCommand.self,
            JournalBackupCommand.self, JournalCompactCommand.self,
        ])
}
