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
            Whether an owner lives is found by looking twice, two seconds apart or more: it renews its lease between. How \
            long an owner was not heard of, and how long a commit waits for a standby, is what the server says of their \
            sessions: it tells that to the hosts' own role, to superusers, and to members of pg_read_all_stats.

            A role that is only an operator's sees the journals and their hosts, and not how much space they take.

            Examples:
              holdfast postgres status
              holdfast postgres status --json | jq '.journals[] | select(.state == "silent")'

            Exit codes: 0 every journal has an owner, or is closed · 1 a journal has none now · others as in `holdfast --help`.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let settings = try databaseOptions.settings()
            let schema = try DatabaseOptions.schemaName(settings.schema)
            let connection = try databaseOptions.connect(settings)
            defer { connection.close() }
            do throws(SchemaError) {
                try Migrator(schema: schema).check(connection, by: DatabaseOptions.deadline)
            } catch {
                throw ToolError(error)
            }
            let report: FleetReport
            do throws(PQError) {
                report = try Self.look(schema, connection)
            } catch {
                throw ToolError(error)
            }
            Console.standard.print(json ? try JSONOutput.line(report) : report.text())
            return report.journals.contains { $0.state == .silent || $0.state == .free } ? .notAllConfirmed : .ok
        }
    }

    private static func look(_ schema: SchemaName, _ connection: PQConnection) throws(PQError) -> FleetReport {
        let calls = OwnershipCalls(schema)
        let durability = try DatabaseDurability(connection, by: DatabaseOptions.deadline)
        let first = try calls.list(connection, by: DatabaseOptions.deadline)
        let isAnyOwned = first.contains { !$0.sighting.isFree }
        if isAnyOwned { Thread.sleep(forTimeInterval: 2.5) }
        let second = isAnyOwned ? try calls.list(connection, by: DatabaseOptions.deadline) : first
        let sessions = try JournalSessions(connection, by: DatabaseOptions.deadline)
        let releases = try ifAllowed { () throws(PQError) in
            try calls.releases(connection, by: DatabaseOptions.deadline)
        }
        var journals: [FleetReport.Journal] = []
        for journal in second {
            var report = FleetReport.Journal(journal, before: first.first { $0.id == journal.id })
            if report.state == .silent { report.silentSeconds = sessions.silence(of: journal.id) }
            if report.state == .free { report.freeSeconds = releases?[journal.id] }
            report.commitWaitsSeconds = sessions.waitForStandby(of: journal.id)
            try report.add(space(schema, journal.id, connection))
            journals.append(report)
        }
        return FleetReport(schema: schema.description, durability, journals)
    }

    /// - Returns: nil for who may not ask.
    private static func space(
        _ schema: SchemaName, _ journal: Int32, _ connection: PQConnection
    ) throws(PQError) -> LogState? {
        try ifAllowed { () throws(PQError) in
            try LogCalls(schema, journal: journal).state(connection, by: DatabaseOptions.deadline)
        }
    }

    /// - Returns: nil for who may not ask.
    private static func ifAllowed<R>(_ call: () throws(PQError) -> R) throws(PQError) -> R? {
        do throws(PQError) { return try call() } catch {
            guard error.sqlState == "42501" else { throw error }
            return nil
        }
    }
}
