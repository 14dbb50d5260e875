internal import ArgumentParser

struct ChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels", abstract: "The broadcast channels of an app: create, list, look at and delete them.",
        subcommands: [
            ChannelsCreateCommand.self, ChannelsListCommand.self, ChannelsShowCommand.self, ChannelsDeleteCommand.self,
        ])
}
