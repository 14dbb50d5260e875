package import HoldfastPostgres
internal import HoldfastRequests

/// Keeps provider tokens and access tokens that hosts share in the notes of the database.
package struct FleetTokenStore: SharedTokenStore {
    private let notes: FleetNoteClient

    package init(_ notes: FleetNoteClient) { self.notes = notes }

    package func read(_ name: String) async throws -> (note: [UInt8], version: Int64)? {
        try await notes.note(name).map { ($0.value, $0.version) }
    }

    package func swap(_ name: String, seen: Int64, _ note: [UInt8]) async throws -> Bool {
        try await notes.swap(name, seen: seen, note) != nil
    }
}
