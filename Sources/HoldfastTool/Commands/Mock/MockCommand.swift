internal import ArgumentParser

struct MockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mock", abstract: "Push services to test against.",
        subcommands: [
            MockHTTP2Command.self, MockBinaryCommand.self, MockFeedbackCommand.self, MockAuditCommand.self,
        ])
}
