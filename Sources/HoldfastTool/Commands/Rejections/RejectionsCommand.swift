internal import ArgumentParser

struct RejectionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejections",
        abstract: "What was refused for good: see it, send it again, or delete it.",
        subcommands: [
            RejectionsListCommand.self, RejectionsShowCommand.self, RejectionsRetryCommand.self,
            RejectionsDiscardCommand.self,
        ])
}
