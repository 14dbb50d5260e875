internal import ArgumentParser

struct MockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mock", abstract: "Run push services to test against, and check what they received.",
        subcommands: [
            MockHTTP2Command.self, MockBinaryCommand.self, MockFeedbackCommand.self, MockFCMCommand.self,
            MockAuditCommand.self,
        ])
}
