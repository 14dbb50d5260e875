internal import ArgumentParser
internal import Holdfast
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastService

/// Which database, and which schema in it.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The database, as libpq writes it. A password is better kept in libpq's password file. (default: the \
            configuration's journal.postgres)
            """, valueName: "string"))
    var database: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The schema that has everything. (default: the configuration's journal.schema, or holdfast)",
            valueName: "name"))
    var schema: String?

    @OptionGroup var configOptions: ConfigOptions

    private static let missing = ValidationError(
        "Missing the database: give --database <string>, or have a configuration with journal.postgres.")

    /// The database and the schema, and where this host has its working copies, if a configuration says so. Reads it once, and
    /// only if it says something that no flag does.
    func settings() throws -> (database: PostgresSettings, copies: String?) {
        let journal = database == nil ? try configOptions.loadJournal(isJournalNamed: false) : nil
        let configured = journal?.postgres
        guard let connection = database ?? configured?.connection else { throw Self.missing }
        let settings = PostgresSettings(
            connection: connection, host: configured?.host, schema: schema ?? configured?.schema ?? "holdfast")
        return (settings, journal?.copies)
    }

    /// The schema alone, for what connects to nothing.
    func schemaName() throws -> SchemaName {
        let name =
            try schema ?? (database == nil ? configOptions.loadJournal(isJournalNamed: false).postgres?.schema : nil)
        return try Self.schemaName(name ?? "holdfast")
    }

    static func schemaName(_ name: String) throws -> SchemaName {
        do throws(SchemaError) { return try SchemaName(name) } catch {
            throw ValidationError("--schema: \(error)")
        }
    }

    static var deadline: ContinuousClock.Instant { DatabaseLook.deadline }
}

extension ToolError {
    init(_ error: SchemaError) {
        switch error {
        case .failed(let error): self.init(error)
        case .badName, .badRole: self.init(.usage, error.description)
        case .mayNotCreate, .notOwner, .mayNotUse, .actsAsAnother: self.init(.noPermission, error.description)
        // As a host says that is to use it.
        case .missing: self.init(.noInput, error.description)
        case .older, .newer, .noSuchRole, .noEncoding: self.init(.configuration, error.description)
        }
    }
}
