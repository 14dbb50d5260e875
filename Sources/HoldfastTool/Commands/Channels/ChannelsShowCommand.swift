internal import ArgumentParser
internal import Holdfast
internal import HoldfastChannels

struct ChannelsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show with which settings a channel was created.",
        discussion: """
            Example:
              holdfast channels show dHN0LXNyY2gtY2hubA== --config holdfast.yaml

            Exit code 1 if this environment has no such channel.
            """)

    @Argument(
        help: ArgumentHelp("The channel's id, as `channels create` printed it.", valueName: "channel"),
        transform: ChannelArgument.parse)
    var channel: BroadcastChannel

    @OptionGroup var channelOptions: ChannelOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await show() } }

    private struct Report: Encodable {
        var bundleID: String
        var channel: String
        var pushType: String
        var storage: String
    }

    private func show() async throws -> ToolStatus {
        let report = try await channelOptions.withManager { manager in
            let found = try await manager.read(channel)
            return Report(
                bundleID: manager.bundleID, channel: channel.id, pushType: found.pushType,
                storage: found.storagePolicy.word)
        }
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : """
                channel    \(report.channel)
                app        \(report.bundleID)
                storage    \(report.storage)
                push type  \(report.pushType)
                """)
        return .ok
    }
}

/// A channel's id from the command line.
enum ChannelArgument {
    static func parse(_ text: String) throws -> BroadcastChannel {
        do throws(Refusal) {
            return try BroadcastChannel(text)
        } catch {
            throw ValidationError("\(text.prefix(128).debugDescription) is no channel: \(error.detail).")
        }
    }
}
