internal import Foundation
internal import Holdfast
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastService

extension DatabaseLook {
    /// All that can be found out of a database, on a thread of its own.
    ///
    /// - Parameter copies: the directory of the host's working copies.
    static func facts(_ settings: PostgresSettings, copies: String) async -> DatabaseFacts {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: examine(settings, copies)) }
            thread.start()
        }
    }

    private static func examine(_ settings: PostgresSettings, _ copies: String) -> DatabaseFacts {
        let start = ContinuousClock.now
        let facts: FleetFacts
        do throws(JournalError) { facts = try FleetFacts(settings, copies: copies) } catch {
            return DatabaseFacts(state: .unusable(error), time: ContinuousClock.now - start)
        }
        var found = DatabaseFacts(
            state: .usable(
                place: facts.place, host: facts.host, durability: facts.durability.words,
                warnings: facts.warnings),
            time: ContinuousClock.now - start)
        do {
            // What it would warn of is among the facts already.
            let connection = try connect(settings, copies: copies, onNews: { _ in })
            defer { connection.close() }
            found.report = try look(try SchemaName(settings.schema), connection)
            found.rivals = FleetReport.words(of: try servers(settings).rivals)
        } catch {
            found.failure = ToolError(error, otherwise: .unavailable).message
        }
        return found
    }
}
