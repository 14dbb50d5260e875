import Foundation
import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

/// A schema of a test's own in the shared server, with an owner and a service.
struct OwnSchema {
    private(set) var cluster: Cluster
    let name: SchemaName
    let owner: String
    let service: String
    let submitter: String

    /// - Parameter isMade: whether the owner has migrated it.
    init(_ cluster: Cluster? = nil, isMade: Bool = true) throws {
        self.cluster = try cluster ?? Servers.plain.get()
        let suffix = UUID().uuidString.prefix(8).lowercased()
        name = try SchemaName("s_\(suffix)")
        owner = "owner_\(suffix)"
        service = "service_\(suffix)"
        submitter = "submitter_\(suffix)"
        try self.cluster.psql(
            "CREATE ROLE \(owner) LOGIN", "CREATE ROLE \(service) LOGIN", "CREATE ROLE \(submitter) LOGIN",
            "GRANT CREATE ON DATABASE postgres TO \(owner)")
        if isMade { try migrate() }
    }

    func migrate() throws {
        try Migrator(schema: name).migrate(asOwner(), service: service, submitter: submitter, by: soon())
    }

    /// The same in another server, such as a standby that was promoted.
    func on(_ cluster: Cluster) -> Self {
        var moved = self
        moved.cluster = cluster
        return moved
    }

    /// A connection string for the service, of whichever of two servers can be written to.
    func serviceOfEither(_ other: Cluster) -> String {
        "host=127.0.0.1,127.0.0.1 port=\(cluster.port),\(other.port) dbname=postgres sslmode=disable "
            + "target_session_attrs=read-write user=\(service)"
    }

    func asOwner() throws -> PQConnection { try connect(as: owner) }
    func asService() throws -> PQConnection { try connect(as: service) }
    func asSubmitter() throws -> PQConnection { try connect(as: submitter) }

    func connect(as user: String) throws -> PQConnection {
        try PQConnection(
            PQTarget(cluster.tcp("user=\(user)")), PQSession(applicationName: "tests"), by: soon(), PQInterruption())
    }

    /// Statements after which hosts see another database than before, as behind `pg_restore`: the table is another one.
    var restoring: String {
        """
        CREATE TABLE S.restored (LIKE S.fleet INCLUDING ALL); INSERT INTO S.restored TABLE S.fleet;
        DROP TABLE S.fleet; ALTER TABLE S.restored RENAME TO fleet; ALTER TABLE S.fleet OWNER TO \(owner)
        """
    }

    /// Tables, functions and rights, as `pg_dump` writes them, with the names of the schema and its roles made the same.
    func dump() throws -> String {
        let text = try PostgresProgram.run(
            "pg_dump", ["-s", "-n", name.description, "-d", cluster.socket])
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("\\") && !$0.hasPrefix("--") }
        return lines.joined(separator: "\n").replacing(name.description, with: "S").replacing(owner, with: "O")
            .replacing(service, with: "V").replacing(submitter, with: "A")
    }

    @discardableResult
    func psql(_ sql: String...) throws -> String {
        try cluster.psql(sql.map { $0.replacing("S.", with: "\(name).") }.joined(separator: ";"))
    }
}

extension PQConnection {
    /// The SQLSTATE that a statement ends with; `nil` when it succeeds.
    func state(_ sql: String) -> String? {
        do throws(PQError) {
            try run([PQStep(sql)], by: soon())
            return nil
        } catch {
            return error.sqlState ?? "\(error)"
        }
    }
}
