internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPostgres

struct BenchPostgresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postgres",
        abstract: "Deliver a backlog from a journal in PostgreSQL, beside one in a directory.",
        discussion: """
            Does what `delivery` does, in turn with a journal in a directory and with one in PostgreSQL, to the same mock. The \
            database is the caller's, without a standby or with a synchronous one; its schema is made there. Whatever it has of \
            durability counts: fsync should be on.

            Example:
              holdfast-bench postgres --database "host=127.0.0.1 dbname=bench user=postgres" --count 300000
            """)

    @Option(help: "The database, as libpq writes it, for a role that may make a schema.") var database: String
    @Option(help: "The schema.") var schema = "holdfast_bench"
    @Option(help: "Notifications in a round.") var count = 300_000
    @Option(help: "Rounds; the medians are reported.") var rounds = 3
    @Option(help: "Concurrent streams.") var streams = 1000
    @Option(help: "Bytes of payload, 20 to 4096.") var payload = 200
    @Option(help: "Entries in flight, from hand-out to durable settlement.") var window = 2000
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        guard count > 0, rounds > 0, (1...1_000_000).contains(streams), (20...4096).contains(payload), window > 0 else {
            throw ValidationError("--count, --rounds, --streams, --payload or --window is out of range")
        }
    }

    func run() async throws {
        let directory = try scratch.make()
        defer { directory.remove() }
        let certificates = "\(directory.path)/certificates"
        let mock = try MockProcess(["http2", "--streams", "\(streams)"], certificateDirectory: certificates)
        defer { mock.stop() }
        let database = try BenchDatabase(self.database, schema)
        if !json { print("the database: \(database.durability.words)") }
        let terms = database.terms(host: "bench")
        let bench = DeliveryBench(
            count: count, payloadBytes: payload, directory: directory.path, certificates: certificates,
            durability: .full)
        let way = DeliveryBench.Way.http2(port: mock.port, streams: streams, window: window)
        var (embedded, shared): ([DeliveryBench.Run], [DeliveryBench.Run]) = ([], [])
        for round in 1...rounds {
            embedded.append(try await bench.run(way))
            let host = HostJournals(terms, try HostDirectory("\(directory.path)/copies"))
            let owned = try host.openOwn(OpeningStop())
            defer { owned.close() }
            shared.append(try await bench.run(way, journal: owned.journal))
            if !json { FileHandle.standardError.write(Data("round \(round) of \(rounds)\n".utf8)) }
        }
        report(embedded, shared)
    }

    private struct Figure {
        let name: String
        let key: String
        let of: (DeliveryBench.Run) -> Double
    }

    private func report(_ embedded: [DeliveryBench.Run], _ shared: [DeliveryBench.Run]) {
        let both = { (run: DeliveryBench.Run) in 1 / (1 / run.submittedPerSecond + 1 / run.deliveredPerSecond) }
        let figures: [Figure] = [
            Figure(name: "durably submitted", key: "submittedPerSecond") { $0.submittedPerSecond },
            Figure(name: "delivered and durably settled", key: "deliveredPerSecond") { $0.deliveredPerSecond },
            Figure(name: "both, one after the other", key: "bothPerSecond", of: both),
            Figure(name: "µs of this process for each delivery", key: "cpuMicroseconds") { $0.cpuMicroseconds },
            Figure(name: "MB private", key: "privateMegabytes") { $0.privateMegabytes },
        ]
        var fields: [(String, Double)] = [("count", Double(count)), ("rounds", Double(rounds))]
        for figure in figures {
            let (ours, theirs) = (Quantile.median(embedded.map(figure.of)), Quantile.median(shared.map(figure.of)))
            fields += [("directory.\(figure.key)", ours), ("postgres.\(figure.key)", theirs)]
            if !json {
                let name = figure.name.padding(toLength: 42, withPad: " ", startingAt: 0)
                print(
                    name
                        + String(format: "directory %10.1f, PostgreSQL %10.1f, ratio %.2f", ours, theirs, theirs / ours)
                )
            }
        }
        if json { print(JSONFigures.object(fields, fullSync: true)) }
    }
}
