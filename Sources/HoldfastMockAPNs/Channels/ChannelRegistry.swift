import HoldfastMocking

/// The broadcast channels of a mock: changed by the channel management, and used to judge broadcasts.
///
/// Until the first channel is added, it takes every well-formed id for an existing channel: a test that only sends
/// needs none.
/// send needs no channel.
final class ChannelRegistry: Sendable {
    private let limit: Int
    private let state: Locked<State>

    private struct State: Sendable {
        var storages: [String: [String: MockChannel.Storage]] = [:]
        var isInUse: Bool
    }

    /// - Parameter limit: the most channels of one app.
    init(_ channels: [MockChannel], limit: Int) {
        self.limit = limit
        var state = State(isInUse: !channels.isEmpty)
        for channel in channels { state.storages[channel.bundleID, default: [:]][channel.id] = channel.storage }
        self.state = Locked(state)
    }

    /// All channels, by app and id.
    var all: [MockChannel] {
        state.withLock(\.storages)
            .flatMap { bundleID, storages in
                storages.map { MockChannel(bundleID: bundleID, id: $0.key, storage: $0.value) }
            }
            .sorted { ($0.bundleID, $0.id) < ($1.bundleID, $1.id) }
    }

    /// The ids of an app's channels, sorted.
    func ids(of bundleID: String) -> [String] {
        state.withLock { state in state.storages[bundleID].map { Array($0.keys) } ?? [] }.sorted()
    }

    func storage(of id: String, _ bundleID: String) -> MockChannel.Storage? {
        state.withLock { state in state.storages[bundleID]?[id] }
    }

    /// - Returns: false when the app has as many channels as it may have.
    func add(_ channel: MockChannel) -> Bool {
        state.withLock { state in
            guard state.storages[channel.bundleID, default: [:]].count < limit else { return false }
            state.storages[channel.bundleID, default: [:]][channel.id] = channel.storage
            state.isInUse = true
            return true
        }
    }

    /// - Returns: false when there is none.
    func remove(_ id: String, _ bundleID: String) -> Bool {
        state.withLock { state in state.storages[bundleID]?.removeValue(forKey: id) != nil }
    }

    /// The refusal of a broadcast to this channel; nil for none.
    ///
    /// - Parameter expires: whether it has an expiration other than 0.
    func rejection(ofBroadcastTo id: String, _ bundleID: String, expires: Bool) -> MockRejection? {
        let (isInUse, storage) = state.withLock { state in (state.isInUse, state.storages[bundleID]?[id]) }
        guard isInUse else { return nil }
        guard let storage else { return "ChannelNotRegistered" }
        return storage == .none && expires ? "BadExpirationDate" : nil
    }
}
