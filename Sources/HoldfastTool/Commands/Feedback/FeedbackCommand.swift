internal import ArgumentParser

struct FeedbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback", abstract: "Read the tokens that a feedback service calls invalid.",
        subcommands: [FeedbackReadCommand.self])
}
