internal import Foundation
internal import HoldfastLMDB
internal import HoldfastPQ

/// Remembers, also in the host's directory, how the fleet was at the last look. After a promotion the host shows it to the database,
/// which sees whether every commit had waited for the promoted standby. That server alone can't know: a standby that was taken out of
/// `synchronous_standby_names` while it was away has a copy of the database in which it is still named.
struct FleetMemory {
    /// As the database writes it, which alone reads it.
    struct Sight: Hashable, Codable {
        let fleet: String
        let incarnation: String
        let timeline: String
        /// The standbys that every commit waits for.
        let awaited: String
        /// The owners of all journals and their beats, which tell how old it is.
        let beats: String
        /// The journals that the host had, for which it vouches. `nil` in a file that a program of schema version 14 has written.
        let journals: [Int32]?
    }

    private let path: String
    private var last: Sight?

    /// - Parameter directory: the host's.
    init(in directory: String) {
        path = directory + "/fleet.seen"
        last = FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(Sight.self, from: $0) }
    }

    /// Looks at the fleet, says what is remembered where the database asks for that, and remembers what is there now.
    ///
    /// - Parameter mine: the journals that the host has.
    mutating func look(
        with mine: Set<Int32>, _ calls: FleetCalls, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        let (seen, isAsked) = try calls.remember(with: mine, connection, by: deadline)
        if isAsked, let last, last.fleet == seen.fleet, last.incarnation != seen.incarnation {
            try calls.vouch(with: last, connection, by: deadline)
        }
        guard seen != last else { return }
        last = seen
        keep(seen)
    }

    /// A host that starts again without it remembers less, and vouches for nothing.
    private func keep(_ seen: Sight) {
        guard let bytes = try? JSONEncoder().encode(seen) else { return }
        do throws(LMDBError) { try Files.put(String(decoding: bytes, as: UTF8.self), at: path) } catch { return }
    }
}
