internal import ArgumentParser
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastService

struct PostgresMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make the schema, or bring it to the version of this program.",
        discussion: """
            Connects as the role that owns the schema, or that is to own it. Each version is one transaction, and several \
            may migrate at once. Hosts of the version before go on with a schema that is newer, so an upgrade begins with \
            this, and then upgrades one host after the other.

            With --print, the statements are printed for psql and nothing is connected to. They make the schema from the beginning; \
            --from VERSION prints what one of that version lacks. They fail with the version that is there (SQLSTATE HF018) where it is \
            another one, before anything is changed.

            Examples:
              holdfast postgres migrate --database "host=db1 dbname=push user=holdfast_owner" --service holdfast
              holdfast postgres migrate --print --service holdfast > holdfast.sql
              holdfast postgres migrate --print --from 14 --service holdfast > upgrade.sql

            Exit codes: 0 done · 66 there is no such database · 69 it can't be reached · 77 the role may not · 78 a role or a schema \
            that can't be used, and nothing was changed.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @Option(
        name: .long,
        help: ArgumentHelp("The role of the hosts, which is granted what it needs, and no table.", valueName: "role"))
    var service: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The role of an application that submits by SQL: it may do that, and nothing else.", valueName: "role"))
    var submitter: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The role of operators, who steer journals from anywhere by `--journal-name` and `--fleet`.",
            valueName: "role"))
    var operators: String?

    @Flag(name: .long, help: "Print the statements, and run nothing.")
    var print = false

    @Option(
        name: .long,
        help: ArgumentHelp("With --print, the version that the schema has. (default: 0)", valueName: "version"))
    var from: Int?

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    private struct Report: Encodable {
        var schema: String
        var made: [Int]
        var version: Int
        /// The roles that were granted what they need, whether or not they had it; absent for none.
        var granted: [String]?
    }

    func validate() throws {
        if from != nil, !print { throw ValidationError("--from is for --print.") }
        if json, print { throw ValidationError("--print prints SQL: leave --json out.") }
        if let from, !(0...Migration.all.count).contains(from) {
            throw ValidationError("--from must be 0 to \(Migration.all.count).")
        }
    }

    func run() async throws {
        try await reporting {
            if print {
                Console.standard.print(try text(Migrator(schema: databaseOptions.schemaName())))
                return .ok
            }
            let (settings, copies) = try databaseOptions.settings()
            let schema = try DatabaseOptions.schemaName(settings.schema)
            let migrator = Migrator(schema: schema)
            let connection = try DatabaseLook.connect(settings, copies: copies)
            defer { connection.close() }
            let made: [Int]
            do throws(SchemaError) {
                made = try migrator.migrate(
                    connection, service: service, submitter: submitter, operators: operators, by: .now + .seconds(300))
            } catch {
                throw ToolError(error)
            }
            let roles = [service, submitter, operators].compactMap(\.self)
            let report = Report(
                schema: schema.description, made: made, version: Migration.all.count,
                granted: roles.isEmpty ? nil : roles)
            Console.standard.print(json ? try JSONOutput.line(report) : Self.text(report))
            return .ok
        }
    }

    private func text(_ migrator: Migrator) throws(ToolError) -> String {
        do throws(SchemaError) {
            return try migrator.text(
                after: from ?? 0, service: service, submitter: submitter, operators: operators)
        } catch {
            throw ToolError(error)
        }
    }

    private static func text(_ report: Report) -> String {
        let made = report.made.map(String.init).joined(separator: ", ")
        let granted = (report.granted ?? []).map { "; granted role \($0) what it needs" }.joined()
        return
            (made.isEmpty
            ? "schema \(report.schema) has version \(report.version) already"
            : "schema \(report.schema): made version \(made)") + granted
    }
}
