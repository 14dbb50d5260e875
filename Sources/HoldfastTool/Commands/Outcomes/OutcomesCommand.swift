internal import ArgumentParser

struct OutcomesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outcomes",
        abstract: "Read how notifications ended, in the order in which they did.",
        discussion: """
            Each outcome has a cursor: 1, 2, 3 and so on. Whoever reads them remembers the last one, and goes on after \
            it; or the journal remembers it under a reader's name. To look for single notifications, see `holdfast \
            journal find`.
            """,
        subcommands: [OutcomesListCommand.self, OutcomesFollowCommand.self, OutcomesReadersCommand.self])
}
