internal import ArgumentParser
internal import Holdfast
internal import HoldfastChannels

struct ChannelsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the ids of an app's channels, one a line.",
        discussion: """
            The environments are separate: `production` and `sandbox` have channels of their own.

            Examples:
              holdfast channels list --config holdfast.yaml
              holdfast channels list --config holdfast.yaml --endpoint sandbox --json
            """)

    @OptionGroup var channelOptions: ChannelOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws { try await reporting { try await list() } }

    private struct Row: Encodable { var channel: String }

    private func list() async throws -> ToolStatus {
        try await channelOptions.withManager { manager in
            let channels = try await manager.list()
            for channel in channels {
                Console.standard.print(json ? try JSONOutput.line(Row(channel: channel.id)) : channel.id)
            }
            if channels.isEmpty, !json {
                Console.standard.note("\(manager.bundleID) has no channels at \(manager.endpoint)")
            }
        }
        return .ok
    }
}
