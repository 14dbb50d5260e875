internal import ArgumentParser

struct RejectionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejections",
        abstract: "List, show, retry and discard notifications that were rejected for good.",
        subcommands: [
            RejectionsListCommand.self, RejectionsShowCommand.self, RejectionsRetryCommand.self,
            RejectionsDiscardCommand.self,
        ])
}
