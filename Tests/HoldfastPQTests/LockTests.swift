import HoldfastPQ
import TestPostgres
import Testing

@Suite("Calls that wait for locks", .enabled(if: PostgresProgram.isWanted))
struct LockTests {
    private let cluster: Cluster
    private let table: String

    init() throws {
        cluster = try Servers.plain.get()
        table = try cluster.table()
    }

    private func waiting(for patience: Duration) throws -> PQConnection {
        // The server ends the session as soon as its client is gone: there is no time to look behind the call.
        let session = PQSession(
            applicationName: "waiting", settings: ["client_connection_check_interval": "1"], lockPatience: patience)
        return try connect(cluster.tcp(), session)
    }

    private func cause(_ connection: PQConnection) throws -> PQError.Cause? {
        do throws(PQError) {
            try connection.run([PQStep("INSERT INTO \(table) VALUES (1)")], by: soon(0.3))
            return nil
        } catch {
            #expect(error.kind == .inDoubt)
            #expect(error.description.hasPrefix("it is not known whether PostgreSQL committed: no answer in time"))
            return error.cause
        }
    }

    @Test("A call that is given up while it waits for a lock is told whose, however soon the server ends its session")
    func holder() throws {
        let holder = try connect(cluster.tcp())
        defer { holder.close() }
        try holder.run([.begin, PQStep("LOCK TABLE \(table)")], by: soon())
        let words = "session \(holder.facts.backend) (role plain, tests)"
        #expect(try cause(waiting(for: .seconds(20))) == .lock(heldBy: words))
        #expect(try cause(waiting(for: .zero)) == .deadline)
    }

    @Test("Of several that wait for each other, the one is told that waits for none")
    func root() throws {
        let holder = try connect(cluster.tcp())
        defer { holder.close() }
        try holder.run([.begin, PQStep("LOCK TABLE \(table) IN ROW EXCLUSIVE MODE")], by: soon())
        let middle = try connect(cluster.tcp())
        let table = table
        let locking = Background { try middle.run([.begin, PQStep("LOCK TABLE \(table)")], by: soon()) }
        let queue = "SELECT count(*) FROM pg_locks WHERE relation = '\(table)'::regclass AND NOT granted"
        #expect(try eventually { try cluster.psql(queue) == "1" })
        let words = "session \(holder.facts.backend) (role plain, tests)"
        #expect(try cause(waiting(for: .seconds(20))) == .lock(heldBy: words))
        try holder.run([.rollback], by: soon())
        _ = try locking.value()
        middle.close()
    }
}
