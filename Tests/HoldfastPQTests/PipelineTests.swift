import Foundation
import HoldfastPQ
import TestPostgres
import Testing

@Suite("Calls with several statements", .enabled(if: PostgresProgram.isWanted))
struct PipelineTests {
    private let cluster: Cluster
    private let connection: PQConnection

    init() throws {
        cluster = try Servers.plain.get()
        connection = try connect(cluster.tcp())
    }

    private func insert(_ table: String, _ value: Int64) -> PQStep {
        var parameters = PQParameters()
        parameters.append(value)
        return PQStep(PQStatement("INSERT INTO \(table) VALUES ($1)", preparedAs: "insert"), parameters)
    }

    @Test("Results come in order, one for each statement, with their notices")
    func order() throws {
        let table = try cluster.table()
        let answer = try connection.run(
            [
                insert(table, 1), insert(table, 2), PQStep("SELECT a FROM \(table) ORDER BY a"),
                PQStep("DO $$ BEGIN RAISE WARNING 'look'; END $$"), PQStep("UPDATE \(table) SET a = a + 1"),
                PQStep("DROP TABLE IF EXISTS nothing_of_this_name"), PQStep(""),
            ], by: soon())
        #expect(
            answer.results.map(\.command) == [
                "INSERT 0 1", "INSERT 0 1", "SELECT 2", "DO", "UPDATE 2", "DROP TABLE", "",
            ])
        #expect(try answer[2].rows.map { try $0.int8(0) } == [1, 2])
        #expect(answer[4].affectedRows == 2)
        // Notices of less weight than a warning are not asked for.
        #expect(answer.notices.map(\.message) == ["look"])
        #expect(try connection.run([], by: soon()).results.isEmpty)
    }

    @Test("An error undoes what came before it, skips the rest, and names its statement")
    func aborted() throws {
        let table = try cluster.table("a int8 PRIMARY KEY")
        let error = failure(.refused, "23505") {
            try connection.run([insert(table, 1), insert(table, 2), insert(table, 1), insert(table, 3)], by: soon())
        }
        #expect(error?.step == 2)
        #expect(error?.server?.constraint == "\(table)_pkey")
        // The detail has the row's values, so only those who ask for it see it.
        #expect(error?.server?.detail?.contains("(1)") == true)
        #expect(error?.description.contains("(1)") == false)
        #expect(try cluster.count(table) == 0)
        // The statement stays prepared, and the connection usable.
        try connection.run([insert(table, 4)], by: soon())
        #expect(try cluster.count(table) == 1)
    }

    @Test("A statement that can't be prepared fails as itself, and may be tried again")
    func unpreparable() throws {
        let step = PQStep(PQStatement("SELECT * FROM not_there_yet", preparedAs: "later"), reading: true)
        for _ in 0..<2 {
            let error = failure(.refused, "42P01") { try connection.run([PQStep.begin, step], by: soon()) }
            #expect(error?.step == 1)
            #expect(connection.isInTransaction)
            try connection.run([PQStep.rollback], by: soon())
        }
        failure(.unexpected) {
            try connection.run([step, PQStep(PQStatement("SELECT 1", preparedAs: "later"))], by: soon())
        }
    }

    @Test("A constraint that is checked by the commit refuses it, with and without a transaction")
    func deferred() throws {
        let table = try cluster.table("a int8 UNIQUE DEFERRABLE INITIALLY DEFERRED")
        failure(.refused, "23505") { try connection.run([insert(table, 1), insert(table, 1)], by: soon()) }
        #expect(try connection.number("SELECT 7::int8") == 7)
        try connection.run([PQStep.begin, insert(table, 1), insert(table, 1)], by: soon())
        let error = failure(.refused, "23505") { try connection.run([PQStep.commit], by: soon()) }
        #expect(error?.step == 0)
        #expect(!connection.isInTransaction)
        #expect(try cluster.count(table) == 0)
    }

    @Test("A COMMIT of a transaction that had failed is refused, though the server calls it a success")
    func failedTransaction() throws {
        let table = try cluster.table("a int8 PRIMARY KEY")
        try connection.run([PQStep.begin, insert(table, 1)], by: soon())
        failure(.refused, "23505") { try connection.run([insert(table, 1)], by: soon()) }
        failure(.refused, "25P02") { try connection.run([insert(table, 2)], by: soon()) }
        failure(.refused, "25P02") { try connection.run([PQStep.commit], by: soon()) }
        #expect(!connection.isInTransaction)
        #expect(try cluster.count(table) == 0)
    }

    @Test("A whole transaction goes in one round trip")
    func transaction() throws {
        let table = try cluster.table()
        let answer = try connection.run(
            [PQStep.begin, insert(table, 1), insert(table, 2), PQStep.commit], by: soon())
        #expect(answer.results.last?.command == "COMMIT")
        #expect(try cluster.count(table) == 2)
        failure(.unexpected) { try connection.run([PQStep.begin, PQStep.commit, insert(table, 3)], by: soon()) }
        #expect(try cluster.count(table) == 2)
    }

    @Test("Many megabytes both ways at once do not lock each other")
    func large() throws {
        let blob = [UInt8](repeating: 7, count: 1_000_000)
        var parameters = PQParameters()
        parameters.append(blob)
        let answer = try connection.run(
            (0..<20).map { _ in PQStep("SELECT $1", parameters, reading: true) }, by: soon())
        #expect(try answer.results.allSatisfy { try $0.row(0).withBytes(0) { $0.count } == 1_000_000 })
    }

    @Test("A statement that copies is refused, and the connection given up")
    func copying() throws {
        failure(.unexpected) { try connection.run([PQStep("COPY (SELECT 1) TO STDOUT", reading: true)], by: soon()) }
        #expect(!connection.isUsable)
    }

    @Test("Notifications are read, and none at the deadline leaves the connection usable")
    func notifications() throws {
        try connection.run("LISTEN push")
        #expect(try connection.notifications(by: soon(0.02)).isEmpty)
        let other = try connect(cluster.tcp())
        try other.run("NOTIFY push, 'one'")
        let found = try connection.notifications(by: soon())
        #expect(found.map(\.channel) == ["push"] && found.map(\.payload) == ["one"])
        #expect(found.map(\.backend) == [other.facts.backend])
        // One that comes with the answer to a call is kept.
        try other.run("NOTIFY push, 'two'")
        #expect(try connection.number("SELECT 7::int8") == 7)
        #expect(try connection.notifications(by: soon()).map(\.payload) == ["two"])
        // A session that ends while it listens says why.
        try cluster.psql("SELECT pg_terminate_backend(\(connection.facts.backend))")
        failure(.unreachable, "57P01") { try connection.notifications(by: soon()) }

        let interruption = try PQInterruption()
        let listener = try connect(cluster.tcp(), by: soon(), interruption)
        let wait = Background { try listener.notifications(by: soon()) }
        interruption.interrupt()
        failure(.interrupted) { try wait.value() }
    }
}
