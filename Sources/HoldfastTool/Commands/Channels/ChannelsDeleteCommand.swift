internal import ArgumentParser
internal import Holdfast
internal import HoldfastChannels
internal import HoldfastService

struct ChannelsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete channels: Live Activities that follow them get no more updates.",
        discussion: """
            Asks first. Deletes one channel after the other, stops at the first failure, and prints which ones were \
            deleted.

            Examples:
              holdfast channels delete dHN0LXNyY2gtY2hubA== --config holdfast.yaml
              holdfast channels delete $(holdfast channels list) --yes

            Exit code 1 if this environment has no such channel, or if the answer was lost.
            """)

    @Argument(
        help: ArgumentHelp("The channels' ids, as `channels create` printed them.", valueName: "channel"),
        transform: ChannelArgument.parse)
    var channels: [BroadcastChannel]

    @OptionGroup var channelOptions: ChannelOptions
    @OptionGroup var consentOptions: ConsentOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        if channels.isEmpty { throw ValidationError("Name at least one channel.") }
    }

    func run() async throws { try await reporting { try await delete() } }

    private struct Row: Encodable {
        var bundleID: String
        var deleted: String
    }

    private func delete() async throws -> ToolStatus {
        let what = channels.count == 1 ? "the channel \(channels[0])" : Format.plural(channels.count, "channel")
        try await channelOptions.withManager { manager in
            try consentOptions.ask("Delete \(what) of \(manager.bundleID) at \(manager.endpoint)")
            for channel in channels {
                try await manager.delete(channel)
                let row = Row(bundleID: manager.bundleID, deleted: channel.id)
                Console.standard.print(json ? try JSONOutput.line(row) : "deleted \(channel)")
            }
        }
        return .ok
    }
}
