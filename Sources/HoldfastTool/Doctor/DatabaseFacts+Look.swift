internal import Foundation
internal import Holdfast
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastService

extension DatabaseLook {
    /// All that can be found out of a database, on a thread of its own.
    static func facts(_ settings: PostgresSettings) async -> DatabaseFacts {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: examine(settings)) }
            thread.start()
        }
    }

    private static func examine(_ settings: PostgresSettings) -> DatabaseFacts {
        let start = ContinuousClock.now
        let facts: FleetFacts
        do throws(JournalError) { facts = try FleetFacts(settings) } catch {
            return DatabaseFacts(state: .unusable(error), time: ContinuousClock.now - start)
        }
        var found = DatabaseFacts(
            state: .usable(
                place: facts.place, host: facts.host, durability: facts.durability.words,
                warnings: facts.durability.warnings),
            time: ContinuousClock.now - start)
        do {
            let connection = try connect(settings)
            defer { connection.close() }
            found.report = try look(try SchemaName(settings.schema), connection)
        } catch {
            found.failure = ToolError(error, otherwise: .unavailable).message
        }
        return found
    }
}
