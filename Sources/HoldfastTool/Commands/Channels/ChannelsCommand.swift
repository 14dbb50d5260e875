internal import ArgumentParser

struct ChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels", abstract: "Create, list, show and delete the broadcast channels of an app.",
        discussion: """
            Live Activities on many devices follow one channel, and `send --channel` broadcasts to it. \
            Docs/Guide/Channels.md explains channels.

            Exit codes: 0 done · 1 the service refused, or its answer was lost (the message says which) · 64 wrong \
            flags · 69 the service can't be reached, or asks to try later: nothing was done · 78 configuration, or \
            refused credentials.
            """,
        subcommands: [
            ChannelsCreateCommand.self, ChannelsListCommand.self, ChannelsShowCommand.self, ChannelsDeleteCommand.self,
        ])
}
