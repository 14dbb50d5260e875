internal import ArgumentParser

struct TagsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags", abstract: "List, pause and resume tags: all notifications of a campaign.",
        subcommands: [TagsListCommand.self, TagsPauseCommand.self, TagsResumeCommand.self])
}
