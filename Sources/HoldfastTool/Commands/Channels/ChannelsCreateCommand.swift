internal import ArgumentParser
internal import Holdfast
internal import HoldfastChannels

/// The storage of a channel's broadcasts at the service.
enum ChannelStorage: String, CaseIterable, ExpressibleByArgument {
    case none
    case mostRecent = "most-recent"

    var policy: MessageStoragePolicy {
        switch self {
        case .none: .noMessage
        case .mostRecent: .mostRecentMessage
        }
    }
}

extension MessageStoragePolicy {
    /// The word of the flag; a policy that has no word is a number.
    var word: String { ChannelStorage.allCases.first { $0.policy == self }?.rawValue ?? "\(rawValue)" }
}

struct ChannelsCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a channel, and print its id.",
        discussion: """
            The app subscribes Live Activities to the id, and `send --channel` broadcasts to it. Keep the id: a \
            channel has no other name.

            If the answer is lost (code 1), the channel may exist all the same: `channels list` shows it. The command \
            does not try again by itself.

            Examples:
              holdfast channels create --storage most-recent --config holdfast.yaml
              holdfast channels create --storage none --endpoint sandbox \\
                --bundle-id com.example.app --key AuthKey_ABC.p8 --key-id ABC --team-id XYZ
            """)

    @Option(
        name: .long,
        help: """
            What the service stores for devices that are offline: `most-recent` is the last broadcast until it \
            expires; `none` is nothing, and broadcasts need --expiration 0.
            """)
    var storage: ChannelStorage

    @OptionGroup var channelOptions: ChannelOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await create() } }

    private struct Report: Encodable {
        var bundleID: String
        var channel: String
        var storage: String
    }

    private func create() async throws -> ToolStatus {
        try await channelOptions.withManager { manager in
            let channel = try await manager.create(storagePolicy: storage.policy)
            let report = Report(bundleID: manager.bundleID, channel: channel.id, storage: storage.rawValue)
            Console.standard.print(json ? try JSONOutput.line(report) : channel.id)
        }
        return .ok
    }
}
