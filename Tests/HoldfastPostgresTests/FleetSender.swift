import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import TestPostgres

/// An engine on a journal of a host, with the intake of what is submitted by SQL.
final class FleetSender: @unchecked Sendable {  // of one test's thread
    /// For which rows wait for owners that are not heard of: as long as ``LeaseTimes/short`` needs twice.
    static let hold = Duration.seconds(2)

    let owned: OwnedJournal
    let engine: PushEngine
    let connector: InMemoryConnector
    let intake: OutboxIntake
    private var running: Task<Void, Never>?

    /// - Parameter isOwn: whether rows are claimed that nobody has.
    init(
        _ schema: OwnSchema, _ owned: OwnedJournal, isOwn: Bool = true, hold: Duration = hold, string: String? = nil,
        connector: InMemoryConnector = InMemoryConnector()
    ) throws {
        (self.owned, self.connector) = (owned, connector)
        engine = try PushEngine(
            journal: owned.journal, routes: [Route(connector: connector, topics: ["topic", "other"])])
        var terms = OutboxIntake.Terms(
            target: try PQTarget(string ?? schema.cluster.tcp("user=\(schema.service)")), schema: schema.name,
            journal: owned.id, epoch: owned.epoch, takesNew: isOwn)
        terms.hold = hold
        terms.takenBefore = { [journal = owned.journal] in try journal.takenRows().rows }
        terms.restorations = { owned.restorations }
        intake = try OutboxIntake(terms, into: engine)
    }

    func deliver() { running = Task.detached { [engine] in try? await engine.run() } }

    /// What was sent, by its tag.
    var sent: [String] { connector.sent.map { String(decoding: $0.tag, as: UTF8.self) }.sorted() }

    func end() async {
        intake.stop(within: .seconds(5))
        running?.cancel()
        await running?.value
        owned.close()
    }
}
