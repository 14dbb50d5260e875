internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastService

struct PostgresStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the journals in the database, who has them, and which losses are survived.",
        discussion: """
            Whether an owner lives is found by looking twice, two seconds apart or more: it renews its lease between.

            Examples:
              holdfast postgres status
              holdfast postgres status --json | jq '.journals[] | select(.state == "silent")'

            Exit codes: 0 every journal has an owner, or is closed · 1 a journal has none now · others as in `holdfast --help`.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    private struct Report: Encodable {
        struct Journal: Encodable {
            var id: Int32
            var name: String
            var host: String?
            /// `owned`, `silent`, `free` or `closed`.
            var state: String
            var epoch: Int64
            var commits: UInt64
            var logBytes: Int
            var checkpointBytes: Int
        }

        var schema: String
        var serverVersion: Int
        var fsync: Bool
        var fullPageWrites: Bool
        var synchronousStandbys: String
        var survives: String
        var warnings: [String]
        var journals: [Journal]
    }

    func run() async throws {
        try await reporting {
            let settings = try databaseOptions.settings()
            let schema = try databaseOptions.schemaName()
            let connection = try databaseOptions.connect(settings)
            defer { connection.close() }
            let report: Report
            do throws(SchemaError) {
                try Migrator(schema: schema).check(connection, by: DatabaseOptions.deadline)
            } catch {
                throw ToolError(error)
            }
            do throws(PQError) {
                report = try Self.look(schema, connection)
            } catch {
                throw ToolError(error)
            }
            Console.standard.print(json ? try JSONOutput.line(report) : Self.text(report))
            return report.journals.contains { $0.state == "silent" || $0.state == "free" } ? .notAllConfirmed : .ok
        }
    }

    private static func look(_ schema: SchemaName, _ connection: PQConnection) throws(PQError) -> Report {
        let calls = OwnershipCalls(schema)
        let durability = try DatabaseDurability(connection, by: DatabaseOptions.deadline)
        let first = try calls.list(connection, by: DatabaseOptions.deadline)
        let isAnyOwned = first.contains { !$0.sighting.isFree }
        if isAnyOwned { Thread.sleep(forTimeInterval: 2.5) }
        let second = isAnyOwned ? try calls.list(connection, by: DatabaseOptions.deadline) : first
        var journals: [Report.Journal] = []
        for journal in second {
            let log = try LogCalls(schema, journal: journal.id).state(connection, by: DatabaseOptions.deadline)
            let before = first.first { $0.id == journal.id }
            let state =
                journal.isClosed && journal.sighting.isFree
                ? "closed"
                : journal.sighting.isFree ? "free" : journal.sighting != before?.sighting ? "owned" : "silent"
            journals.append(
                .init(
                    id: journal.id, name: journal.name, host: journal.host, state: state,
                    epoch: journal.sighting.epoch, commits: log.last, logBytes: log.logByteCount,
                    checkpointBytes: log.checkpointByteCount))
        }
        return Report(
            schema: schema.description, serverVersion: durability.serverVersion, fsync: durability.isSynced,
            fullPageWrites: durability.hasFullPages, synchronousStandbys: durability.standbys,
            survives: durability.words, warnings: durability.warnings, journals: journals)
    }

    private static func text(_ report: Report) -> String {
        var lines = ["schema \(report.schema): \(report.survives)"] + report.warnings
        for journal in report.journals {
            let owner: String =
                switch journal.state {
                case "owned": "host \(journal.host ?? "unknown")"
                case "silent": "no sign of life from host \(journal.host ?? "unknown")"
                case "free": "given up by host \(journal.host ?? "unknown"), not delivered to the end"
                default: "closed"
                }
            lines.append(
                "journal \(journal.name.printable(maximumLength: 64)): \(owner); \(SizeText.text(journal.logBytes)) of commits, "
                    + "\(SizeText.text(journal.checkpointBytes)) of checkpoint")
        }
        return lines.joined(separator: "\n")
    }
}
