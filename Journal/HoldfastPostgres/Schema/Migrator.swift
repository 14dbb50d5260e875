package import HoldfastPQ

/// Brings a schema to the newest version that this program knows, by the role that owns it.
///
/// Each version is one transaction under one lock, so that several hosts may try at once, and one that fails leaves the version
/// before it.
package struct Migrator: Sendable {
    package let schema: SchemaName
    let migrations: [Migration]

    /// - Parameter migrations: from version 1 on, without gaps.
    package init(schema: SchemaName = .standard, migrations: [Migration] = Migration.all) {
        precondition(migrations.map(\.version) == Array(1...max(migrations.count, 1)), "versions have gaps")
        self.schema = schema
        self.migrations = migrations
    }

    private var known: Int { migrations.count }

    /// The statements for administrators who run them by psql, from the version after the given one on. Each transaction fails where
    /// the schema has another version than it is for.
    ///
    /// - Parameters:
    ///   - service: the role of the service, to be granted what it needs.
    ///   - submitter: a role of applications that submit by SQL, the same.
    ///   - operators: the role of operators, the same.
    package func text(
        after version: Int = 0, service: String? = nil, submitter: String? = nil, operators: String? = nil
    ) throws(SchemaError) -> String {
        var parts: [(standing: Int, statements: [String])] = []
        for migration in migrations where migration.version > version {
            parts.append((migration.version - 1, migration.statements(schema)))
        }
        for right in try rights(service, submitter, operators) { parts.append((known, right.statements)) }
        return parts.map { part in
            let opening = ["BEGIN", schema.lock, schema.requirement(of: part.standing)]
            return (opening + part.statements + ["COMMIT"]).map { $0 + ";\n" }.joined()
        }.joined(separator: "\n")
    }

    /// Runs what is missing.
    ///
    /// - Parameters:
    ///   - service: the role of the service, to be granted what it needs.
    ///   - submitter: a role of applications that submit by SQL, the same.
    ///   - operators: the role of operators, the same.
    /// - Returns: the versions that were made by this call.
    @discardableResult
    package func migrate(
        _ connection: PQConnection, service: String? = nil, submitter: String? = nil, operators: String? = nil,
        by deadline: ContinuousClock.Instant
    ) throws(SchemaError) -> [Int] {
        try requireEncoding(connection)
        let rights = try rights(service, submitter, operators)
        var made: [Int] = []
        // Before anything is made: whoever has mistyped a role's name finds the database as it was.
        for right in rights { try require(role: right.role, connection, by: deadline) }
        do throws(PQError) {
            while let next = try migrateNext(connection, by: deadline) { made.append(next) }
        } catch {
            throw explained(error, connection, by: deadline)
        }
        let version = try SchemaVersion(read(connection, by: deadline))
        try version.check(knownUpTo: known, schema)
        for right in rights {
            do throws(PQError) {
                let steps = ([schema.lock] + right.statements).map { PQStep($0) }
                try connection.run([.begin] + steps + [.commit], by: deadline)
            } catch {
                throw explained(error, connection, by: deadline)
            }
        }
        return made
    }

    /// Finds out whether the database knows what is text.
    func requireEncoding(_ connection: PQConnection) throws(SchemaError) {
        guard connection.facts.settings["server_encoding"] == "SQL_ASCII" else { return }
        throw .noEncoding(database: connection.facts.database)
    }

    private func require(
        role: String, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(SchemaError) {
        var parameters = PQParameters()
        parameters.append(role)
        let step = PQStep(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1)", parameters, reading: true)
        let isThere: Bool
        do throws(PQError) { isThere = try connection.run([step], by: deadline)[0].row(0).bool(0) } catch {
            throw .failed(error)
        }
        if !isThere { throw .noSuchRole(role) }
    }

    /// What each role is granted, in a transaction of its own.
    private func rights(
        _ service: String?, _ submitter: String?, _ operators: String?
    ) throws(SchemaError) -> [(role: String, statements: [String])] {
        var rights: [(role: String, statements: [String])] = []
        let roles = [(service, Rights.service), (submitter, .submitter), (operators, .operators)]
        for case (let role?, let kind) in roles {
            rights.append((role, kind.statements(schema, migrations, to: try RoleName(role))))
        }
        return rights
    }

    /// Finds out, as the role of the service, whether this program may use the schema.
    package func check(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(SchemaError) {
        let found: (version: Int, readableFrom: Int)
        do throws(PQError) {
            let step = PQStep("SELECT version, readable_from FROM \(schema.quoted).schema_version()", reading: true)
            let row = try connection.run([step], by: deadline)[0].row(0)
            found = (Int(try row.int4(0)), Int(try row.int4(1)))
        } catch {
            switch error.sqlState {
            // No schema, and no function in it.
            case "3F000", "42883": throw .missing(schema)
            case "42501":
                // Of the schema itself it says nothing of a function.
                let function = error.message.contains("schema_version") ? "\(schema).schema_version()" : nil
                if connection.facts.actingRole != nil {
                    let right = function.map { "call \($0)" } ?? "use schema \(schema)"
                    throw .actsAsAnother(SchemaError.withheld(from: connection.facts, right))
                }
                throw .mayNotUse(schema, role: connection.facts.user, function: function)
            default: throw .failed(error)
            }
        }
        try SchemaVersion(found).check(knownUpTo: known, schema)
    }
}

extension Migrator {
    /// The functions of the service that the session's role may not call.
    func withheld(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) -> [String] {
        var parameters = PQParameters()
        parameters.append(migrations.flatMap(\.functions).map { Array("\(schema.quoted).\($0)".utf8) })
        // Of one that a later version has removed nothing is said.
        let step = PQStep(
            """
            SELECT f.name FROM (
                SELECT pg_catalog.convert_from(n, 'UTF8') AS name FROM pg_catalog.unnest($1::bytea[]) AS u(n)) AS f
            WHERE NOT pg_catalog.has_function_privilege(pg_catalog.to_regprocedure(f.name)::oid, 'EXECUTE')
            """, parameters, reading: true)
        return try connection.run([step], by: deadline)[0].rows.map { row throws(PQError) in try row.text(0) }
    }

    /// One version in one transaction.
    ///
    /// - Returns: `nil` when there was nothing to do.
    private func migrateNext(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Int? {
        // What is there is looked at under the lock.
        try connection.run([.begin, PQStep(schema.lock)], by: deadline)
        let version = try versionFound(connection, by: deadline)?.version ?? 0
        guard let next = migrations.first(where: { $0.version > version }) else {
            try connection.run([.rollback], by: deadline)
            return nil
        }
        try connection.run(next.statements(schema).map { PQStep($0) } + [.commit], by: deadline)
        return next.version
    }

    private func read(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(SchemaError) -> (version: Int, readableFrom: Int) {
        let found: (version: Int, readableFrom: Int)?
        do throws(PQError) {
            found = try versionFound(connection, by: deadline)
        } catch {
            throw explained(error, connection, by: deadline)
        }
        guard let found else { throw .missing(schema) }
        return found
    }

    /// - Returns: `nil` when there is no table of versions.
    private func versionFound(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (version: Int, readableFrom: Int)? {
        let table = PQStep("SELECT pg_catalog.to_regclass('\(schema.quoted).schema') IS NOT NULL", reading: true)
        guard try connection.run([table], by: deadline)[0].row(0).bool(0) else { return nil }
        let newest = PQStep(
            "SELECT version, readable_from FROM \(schema.quoted).schema ORDER BY version DESC LIMIT 1", reading: true)
        let rows = try connection.run([newest], by: deadline)[0].rows
        return try rows.first.map { row throws(PQError) in (Int(try row.int4(0)), Int(try row.int4(1))) }
    }

    /// Rolls back, and says what to do about rights that are missing.
    private func explained(
        _ error: PQError, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) -> SchemaError {
        abandon(connection, by: deadline)
        guard error.sqlState == "42501" else { return .failed(error) }
        let step = PQStep(
            """
            SELECT pg_catalog.pg_get_userbyid(nspowner)::text FROM pg_catalog.pg_namespace
            WHERE nspname = '\(schema)'
            """, reading: true)
        let facts = connection.facts
        do throws(PQError) {
            guard let row = try connection.run([step], by: deadline)[0].rows.first else {
                return .mayNotCreate(schema, role: facts.user, database: facts.database)
            }
            let owner = try row.text(0)
            // The owner lacks something else, which the server names.
            return owner == facts.user ? .failed(error) : .notOwner(schema, role: facts.user, owner: owner)
        } catch _ {
            return .failed(error)
        }
    }

    /// Ends a transaction that failed. Without a connection there is none.
    private func abandon(_ connection: PQConnection, by deadline: ContinuousClock.Instant) {
        guard connection.isInTransaction else { return }
        do throws(PQError) { try connection.run([.rollback], by: deadline) } catch { connection.close() }
    }
}

/// The newest version of a schema, and the oldest one whose programs may use it.
struct SchemaVersion {
    let version: Int
    let readableFrom: Int

    init(_ found: (version: Int, readableFrom: Int)) { (version, readableFrom) = found }

    func check(knownUpTo known: Int, _ schema: SchemaName) throws(SchemaError) {
        if version < known { throw .older(schema, version: version, needed: known) }
        if version > known, readableFrom > known { throw .newer(schema, version: version, known: known) }
    }
}
