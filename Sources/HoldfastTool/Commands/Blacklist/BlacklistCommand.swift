internal import ArgumentParser

struct BlacklistCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blacklist",
        abstract: "The tokens that are not sent to: see, add and remove them.",
        subcommands: [
            BlacklistListCommand.self, BlacklistCheckCommand.self, BlacklistAddCommand.self,
            BlacklistRemoveCommand.self,
            BlacklistImportCommand.self, BlacklistExportCommand.self,
        ])
}
