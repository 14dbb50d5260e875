import Holdfast
import HoldfastPostgres
import HoldfastTesting
import Logging
import Scratch
import TestPostgres
import Testing

@testable import HoldfastService

@Suite("Rates that hosts divide", .timeLimit(.minutes(1)), .enabled(if: PostgresProgram.isWanted))
struct FleetRatesTests {
    private let schema: OwnSchema
    private let folder: TemporaryFolder

    init() throws {
        schema = try OwnSchema()
        folder = try TemporaryFolder()
    }

    private static func logger(_ label: String) -> Logger { Logger(label: label) { _ in SwiftLogNoOpLogHandler() } }

    private func open(_ host: String) async throws -> OpenedJournal {
        let text = """
            journal:
              postgres: "\(schema.cluster.tcp("user=\(schema.service)"))"
              schema: \(schema.name)
              host: \(host)
              path: \(folder(host))
            """
        let journal = try HoldfastConfiguration(yaml: text).journal
        return try await FleetPlace.open(
            try #require(journal.postgres), journal, FleetRecord(), logger: Self.logger("test"))
    }

    /// A place whose watch looks often.
    private func watched(_ place: FleetPlace) -> FleetPlace {
        var terms = place.terms
        terms.times = .long
        return FleetPlace(
            terms: terms, directory: place.directory, own: place.own, orders: place.orders, shared: place.shared,
            rates: place.rates, losses: [], record: place.record)
    }

    @Test("A host that joins has its part from the beginning, and the others give way at their next look")
    func joining() async throws {
        let first = try await open("a")
        defer { first.close() }
        let place = watched(try #require(first.fleet))
        #expect(place.rates.shared.hosts == 1)
        let engine = try PushEngine(
            journal: place.own.journal, routes: [Route(connector: InMemoryConnector(), topics: ["topic"])])
        let keeper = FleetKeeper(
            place, engine, host: ServiceHost(logger: Self.logger),
            metrics: EngineMetrics(), means: { throw CancellationError() })
        let running = Task { try await keeper.run() }
        let second = try await open("b")
        #expect(second.fleet?.rates.shared.hosts == 2)
        #expect(try eventually { place.rates.shared.hosts == 2 })
        second.close()
        // It may come back.
        try #require(try eventually { keeper.journals.contains { $0.name == "b" && $0.sighting.isFree } })
        #expect(place.rates.shared.hosts == 2)
        running.cancel()
        try await running.value
    }
}
