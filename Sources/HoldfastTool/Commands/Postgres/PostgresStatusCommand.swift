internal import ArgumentParser
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

            Where the connection string names several servers, each is asked by itself: two that can be written to at once \
            are an old primary and the one that was promoted in its place.

            A role that is only an operator's sees the journals and their hosts, and not how much space they take.

            Examples:
              holdfast postgres status
              holdfast postgres status --json | jq '.journals[] | select(.state == "silent")'

            Exit codes: 0 every journal has an owner, or is closed · 1 a journal has none now, or two servers can be written to · others as in `holdfast --help`.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let (settings, copies) = try databaseOptions.settings()
            let schema = try DatabaseOptions.schemaName(settings.schema)
            let connection = try DatabaseLook.connect(settings, copies: copies)
            defer { connection.close() }
            do throws(SchemaError) {
                try Migrator(schema: schema).check(connection, by: DatabaseOptions.deadline)
            } catch {
                throw ToolError(error)
            }
            var report: FleetReport
            do throws(PQError) {
                report = try DatabaseLook.look(schema, connection)
            } catch {
                throw ToolError(error)
            }
            report.add(try DatabaseLook.servers(settings))
            Console.standard.print(json ? try JSONOutput.line(report) : report.text())
            let isAnyLeft = report.journals.contains { $0.state == .silent || $0.state == .free }
            return isAnyLeft || report.hasRivals ? .notAllConfirmed : .ok
        }
    }
}
