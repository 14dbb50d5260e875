internal import ArgumentParser

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Inspect, change, copy and check a journal.",
        subcommands: [
            JournalStatusCommand.self, JournalFindCommand.self, JournalListCommand.self, JournalShowCommand.self,
            JournalDropCommand.self,
            JournalExportCommand.self, JournalImportCommand.self, JournalQuarantineCommand.self,
            JournalVerifyCommand.self,
            JournalBackupCommand.self, JournalCompactCommand.self, JournalKeyCommand.self,
        ])
}
