package import Holdfast
internal import HoldfastRequests

/// Keeps the tokens that hosts share, as the database does.
package final class MemoryTokenStore: SharedTokenStore {
    package struct State: Sendable {
        package var notes: [String: (note: [UInt8], version: Int64)] = [:]
        package var reads = 0
        package var swaps = 0
        package var isAway = false
        /// Runs once, behind the next read.
        package var afterRead: (@Sendable () async throws -> Void)?
    }

    package struct Away: Error {}

    package let state = Monitor(State())

    package init() {}

    package func read(_ name: String) async throws -> (note: [UInt8], version: Int64)? {
        let (found, next) = try state.withLock { state in
            state.reads += 1
            if state.isAway { throw Away() }
            defer { state.afterRead = nil }
            return (state.notes[name], state.afterRead)
        }
        try await next?()
        return found
    }

    package func swap(_ name: String, seen: Int64, _ note: [UInt8]) async throws -> Bool {
        try state.withLock { state in
            if state.isAway { throw Away() }
            guard state.notes[name]?.version ?? 0 == seen else { return false }
            state.notes[name] = (note, seen + 1)
            state.swaps += 1
            return true
        }
    }
}
