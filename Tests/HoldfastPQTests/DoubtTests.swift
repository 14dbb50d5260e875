import Foundation
import HoldfastPQ
import TestPostgres
import Testing

/// Connections that end at the worst moments, to a real server.
@Suite("What became of a commit", .enabled(if: PostgresProgram.isWanted))
struct DoubtTests {
    private let cluster: Cluster
    private let table: String
    private let proxy: FaultProxy
    private let interruption: PQInterruption
    private let connection: PQConnection

    init() throws {
        cluster = try Servers.plain.get()
        table = try cluster.table()
        proxy = try FaultProxy(to: cluster.port)
        interruption = try PQInterruption()
        connection = try connect(cluster.tcp(port: proxy.port), by: soon(), interruption)
    }

    private var insert: PQStep { PQStep("INSERT INTO \(table) VALUES (1)") }

    @Test("A COMMIT that never arrived is in doubt, and was not made")
    func commitNotMade() throws {
        try connection.run([.begin, insert], by: soon())
        proxy.fail(.cutBefore("COMMIT"))
        failure(.inDoubt, cause: .connectionLost) { try connection.run([.commit], by: soon()) }
        #expect(!connection.isUsable)
        #expect(try cluster.count(table) == 0)
    }

    @Test("A COMMIT whose answer was lost is in doubt, and was made")
    func commitMade() throws {
        try connection.run([.begin, insert], by: soon())
        proxy.fail(.cutAfter("COMMIT"))
        failure(.inDoubt, cause: .connectionLost) { try connection.run([.commit], by: soon()) }
        #expect(try cluster.count(table) == 1)
    }

    @Test("A COMMIT without the Sync behind it is in doubt, and was made")
    func commitWithoutSync() throws {
        try connection.run([.begin, insert], by: soon())
        proxy.fail(.cutShort("COMMIT", by: 5))
        failure(.inDoubt, cause: .connectionLost) { try connection.run([.commit], by: soon()) }
        #expect(try eventually { try cluster.count(table) == 1 })
    }

    @Test("A statement outside of a transaction is in doubt: it was made, was not, or lacked its Sync")
    func autocommit() throws {
        for (fault, count) in [
            (FaultProxy.Fault.cutAfter("INSERT"), 1), (.cutBefore("INSERT"), 1), (.cutShort("INSERT", by: 5), 1),
        ] {
            proxy.fail(nil)
            let connection = try connect(cluster.tcp(port: proxy.port))
            proxy.fail(fault)
            failure(.inDoubt, cause: .connectionLost) { try connection.run([insert], by: soon()) }
            #expect(try cluster.count(table) == count, "\(fault)")
        }
    }

    @Test("Inside of a transaction nothing is in doubt: the server rolls back")
    func insideTransaction() throws {
        try connection.run([.begin], by: soon())
        proxy.fail(.cutAfter("INSERT"))
        failure(.unreachable, cause: .connectionLost) { try connection.run([insert], by: soon()) }
        #expect(try cluster.count(table) == 0)
    }

    @Test("Reading is never in doubt")
    func reading() throws {
        proxy.fail(.cutAfter("SELECT"))
        failure(.unreachable, cause: .connectionLost) { try connection.number("SELECT 1::int8") }
    }

    @Test("A deadline that passes behind a COMMIT leaves it in doubt, and no cancel is sent")
    func deadline() throws {
        try connection.run([.begin, insert], by: soon())
        proxy.fail(.silentAfter("COMMIT"))
        let start = ContinuousClock.now
        failure(.inDoubt, cause: .deadline) { try connection.run([.commit], by: soon(0.1)) }
        #expect(.now - start < .seconds(5))
        #expect(!connection.isUsable)
        #expect(try cluster.count(table) == 1)
    }

    @Test(
        "A deadline that passes while reading is no doubt, and closes the connection, since its answer may still come")
    func readingDeadline() throws {
        failure(.unreachable, cause: .deadline) {
            try connection.run([PQStep("SELECT pg_sleep(20)", reading: true)], by: soon(0.05))
        }
        failure(.unreachable, cause: .connectionLost) { try connection.number("SELECT 1::int8") }
    }

    @Test("A deadline that had passed before sends nothing, and leaves the connection usable")
    func passedDeadline() throws {
        failure(.unreachable, cause: .deadline) { try connection.run([insert], by: .now) }
        #expect(connection.isUsable)
        #expect(try connection.number("SELECT count(*) FROM \(table)") == 0)
    }

    @Test("Another thread ends a call: in doubt behind a COMMIT, else without effect")
    func interrupted() throws {
        try connection.run([.begin, insert], by: soon())
        proxy.fail(.silentAfter("COMMIT"))
        let commit = Background { [connection] in try connection.run([.commit], by: soon()) }
        #expect(try eventually { try cluster.count(table) == 1 })
        interruption.interrupt()
        failure(.inDoubt, cause: .interruption) { try commit.value() }

        let other = try PQInterruption()
        let reader = try connect(cluster.tcp(), by: soon(), other)
        let backend = reader.facts.backend
        let read = Background { try reader.run([PQStep("SELECT pg_sleep(20)", reading: true)], by: soon()) }
        #expect(
            try eventually {
                try cluster.psql("SELECT wait_event FROM pg_stat_activity WHERE pid = \(backend)") == "PgSleep"
            })
        other.interrupt()
        failure(.interrupted) { try read.value() }
        // It stays: nothing connects with it, either.
        failure(.interrupted) { try connect(cluster.tcp(), by: soon(), other) }
    }

    @Test("A session that the server ends in the middle of a statement did nothing")
    func terminated() throws {
        let connection = self.connection
        let call = Background { [insert] in
            try connection.run([insert, PQStep("SELECT pg_sleep(20)"), insert], by: soon())
        }
        let backend = connection.facts.backend
        #expect(
            try eventually {
                try cluster.psql("SELECT wait_event FROM pg_stat_activity WHERE pid = \(backend)") == "PgSleep"
            })
        try cluster.psql("SELECT pg_terminate_backend(\(backend))")
        let error = failure(.unreachable, "57P01") { try call.value() }
        #expect(error?.step == 1)
        #expect(!connection.isUsable)
        #expect(try cluster.count(table) == 0)
    }

    @Test("A session that the server ended between two calls is found before anything is sent")
    func endedBetweenCalls() throws {
        try cluster.psql("SELECT pg_terminate_backend(\(connection.facts.backend))")
        #expect(
            try eventually {
                try cluster.psql("SELECT count(*) FROM pg_stat_activity WHERE pid = \(connection.facts.backend)") == "0"
            })
        // Through the proxy the end takes a moment more.
        usleep(50_000)
        let error = failure(.unreachable, cause: .connectionLost) { try connection.run([insert], by: soon()) }
        #expect(error?.sqlState == "57P01")
        #expect(try cluster.count(table) == 0)
    }

    @Test("A connection that was lost between two calls without a word leaves nothing in doubt")
    func lostBetweenCalls() throws {
        try connection.run([insert], by: soon())
        proxy.cut()
        failure(.unreachable, cause: .connectionLost) { try connection.run([insert], by: soon()) }
        #expect(try cluster.count(table) == 1)
    }

    @Test("An answer that comes byte by byte is the same answer")
    func slow() throws {
        proxy.fail(.slow)
        #expect(try connection.run("INSERT INTO \(table) VALUES (1), (2)").affectedRows == 2)
        #expect(try connection.number("SELECT count(*) FROM \(table)") == 2)
    }
}
