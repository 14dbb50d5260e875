internal import ArgumentParser

struct ChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels", abstract: "The broadcast channels of an app: create, list, look at and delete them.",
        discussion: """
            A channel is what Live Activities of many devices follow at once; `send --channel` broadcasts to it. \
            Docs/Guide/Channels.md has the whole story.

            Exit codes: 0 done · 1 the service says no, or nobody knows whether it was done (the message says which) · 64 \
            wrong flags · 69 the service cannot be reached, or does not want to now: nothing was done · 78 configuration, \
            or credentials that the service does not take.
            """,
        subcommands: [
            ChannelsCreateCommand.self, ChannelsListCommand.self, ChannelsShowCommand.self, ChannelsDeleteCommand.self,
        ])
}
