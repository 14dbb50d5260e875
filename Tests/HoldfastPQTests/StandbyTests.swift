import Foundation
import HoldfastPQ
import TestPostgres
import Testing

/// A primary with a synchronous standby, which go through a failover in the end. One test after another, in this order.
@Suite("A primary and its standby", .serialized, .enabled(if: PostgresProgram.isWanted))
struct StandbyTests {
    private struct Pair {
        let primary: Cluster
        let standby: Cluster
        let table: String

        init() throws {
            primary = try Cluster()
            table = try primary.table()
            standby = try Cluster(standbyOf: primary, name: "copy")
            try primary.reload(["synchronous_standby_names": "'copy'"])
            let isSynchronous = try eventually {
                try primary.psql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
            }
            #expect(isSynchronous)
        }
    }

    private static let pair: Result<Pair, any Error> = Result { try Pair() }
    private let pair: Pair

    init() throws { pair = try Self.pair.get() }

    private var insert: PQStep { PQStep("INSERT INTO \(pair.table) VALUES (1)") }

    @Test("A standby is known as one, takes no writes, and is passed over for a primary")
    func readOnly() throws {
        let connection = try connect(pair.standby.tcp())
        #expect(connection.facts.isInRecovery)
        failure(.refused, "25006") { try connection.run([insert], by: soon()) }
        let both = pair.standby.tcp(or: pair.primary)
        #expect(try connect("\(both) target_session_attrs=read-write").facts.port == "\(pair.primary.port)")
        #expect(try connect("\(both) target_session_attrs=primary").facts.port == "\(pair.primary.port)")
        #expect(try connect(both).facts.port == "\(pair.standby.port)")
        #expect(try connect("\(both) target_session_attrs=prefer-standby").facts.port == "\(pair.standby.port)")
        failure(.unreachable) { try connect(pair.standby.tcp("user=plain target_session_attrs=read-write")) }
        #expect(
            try connect(pair.primary.tcp("user=plain target_session_attrs=prefer-standby")).facts.isInRecovery == false)
    }

    @Test("A commit whose wait for the standby is cancelled or ended is in doubt, though the server calls it a success")
    func cancelledWait() throws {
        try pair.primary.reload(["synchronous_standby_names": "'nobody'"])
        #expect(try eventually { try pair.primary.psql("SHOW synchronous_standby_names") == "nobody" })
        for (ending, steps) in [
            ("pg_cancel_backend", [insert]), ("pg_cancel_backend", [.begin, insert, .commit]),
            ("pg_terminate_backend", [insert]), ("pg_terminate_backend", [.begin, insert, .commit]),
        ] {
            let connection = try connect(pair.primary.tcp())
            let call = Background { try connection.run(steps, by: soon()) }
            #expect(
                try eventually {
                    try pair.primary.psql(
                        "SELECT \(ending)(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "t"
                })
            let error = failure(.inDoubt) { try call.value() }
            #expect(error?.server?.saysStandbyNotAwaited == true)
            #expect(error?.cause == (ending == "pg_cancel_backend" ? .standbyNotAwaited : .connectionLost))
            #expect(connection.isUsable == (ending == "pg_cancel_backend"))
        }
        // A deadline, too. The commit is seen when the standby has it.
        let connection = try connect(pair.primary.tcp())
        failure(.inDoubt, cause: .deadline) { try connection.run([insert], by: soon(0.1)) }
        #expect(try pair.primary.count(pair.table) == 4)
        try pair.primary.reload(["synchronous_standby_names": "'copy'"])
        // Waiting ends with the standby's next word, and it has nothing to say for ten seconds.
        try pair.primary.psql(
            "SET synchronous_commit = local", "SELECT pg_logical_emit_message(true, 'tests', 'something to say')")
        #expect(try eventually { try pair.primary.count(pair.table) == 5 })
        #expect(try eventually { try pair.standby.count(pair.table) == 5 })
    }

    /// As beats of a lease do while the first of them waits for a standby that is away.
    @Test("A session whose call was given up while it waits for a lock ends long before the lock")
    func abandoned() throws {
        let table = try pair.primary.table()
        let holder = try connect(pair.primary.tcp())
        let hold = Background {
            try holder.run(
                [.begin, PQStep("LOCK TABLE \(table)"), PQStep("SELECT pg_sleep(300)"), .commit], by: soon(300))
        }
        let holders = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)%' AND pid <> pg_backend_pid()"
        #expect(try eventually { try pair.primary.psql("SELECT count(*) \(holders)") == "1" })
        for _ in 0..<3 {
            let connection = try connect(pair.primary.tcp(), PQSession(applicationName: "abandoned"))
            _ = #expect(throws: PQError.self) {
                try connection.run([PQStep("INSERT INTO \(table) VALUES (1)")], by: soon(0.2))
            }
        }
        let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'abandoned'"
        #expect(try eventually { try pair.primary.psql(left) == "0" })
        #expect(try pair.primary.psql("SELECT pg_terminate_backend(pid) \(holders)") == "t")
        _ = #expect(throws: PQError.self) { try hold.value() }
    }

    @Test("A server that starts up, or that takes no sessions, is to be tried again")
    func starting() throws {
        try pair.standby.stop(.fast)
        try pair.standby.configure(["hot_standby": "off"])
        try pair.standby.start()
        failure(.unreachable, "57P03") { try connect(pair.standby.tcp()) }
        // Another host is tried.
        #expect(try connect(pair.standby.tcp(or: pair.primary)).facts.port == "\(pair.primary.port)")
        try pair.standby.stop(.fast)
        try pair.standby.configure(["hot_standby": "on"])
        try pair.standby.start()
    }

    @Test("A primary that is killed leaves what was not committed undone; the standby is promoted, and has what was")
    func failover() throws {
        let both = "\(pair.primary.tcp(or: pair.standby)) target_session_attrs=read-write"
        #expect(
            try eventually {
                try pair.primary.psql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
            })
        let writer = try connect(both)
        try writer.run([.begin, insert, .commit], by: soon())
        let before = try writer.number("SELECT count(*) FROM \(pair.table)")

        let dying = try connect(both)
        let call = Background { [insert] in
            try dying.run([.begin, insert, PQStep("SELECT pg_sleep(20)"), insert], by: soon())
        }
        let backend = dying.facts.backend
        #expect(
            try eventually {
                try pair.primary.psql("SELECT wait_event FROM pg_stat_activity WHERE pid = \(backend)") == "PgSleep"
            })
        try pair.primary.killHard()
        // No transaction of it was to be committed.
        failure(.unreachable, cause: .connectionLost) { try call.value() }
        #expect(try eventually { (try? writer.number("SELECT 1::int8")) == nil })
        failure(.unreachable) { try writer.run([insert], by: soon()) }

        try pair.standby.promote()
        let after = try connect(both)
        #expect(after.facts.port == "\(pair.standby.port)" && !after.facts.isInRecovery)
        #expect(try after.number("SELECT count(*) FROM \(pair.table)") == before)
        try after.run([insert], by: soon())
    }
}
