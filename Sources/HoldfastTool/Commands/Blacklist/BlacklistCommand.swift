internal import ArgumentParser

struct BlacklistCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blacklist",
        abstract: "List, check, add, remove, import and export the tokens that are not sent to.",
        subcommands: [
            BlacklistListCommand.self, BlacklistCheckCommand.self, BlacklistAddCommand.self,
            BlacklistRemoveCommand.self,
            BlacklistImportCommand.self, BlacklistExportCommand.self,
        ])
}
