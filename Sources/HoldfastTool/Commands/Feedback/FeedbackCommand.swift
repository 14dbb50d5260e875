internal import ArgumentParser

struct FeedbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback", abstract: "What a push service says about devices that take nothing any more.",
        subcommands: [FeedbackReadCommand.self])
}
