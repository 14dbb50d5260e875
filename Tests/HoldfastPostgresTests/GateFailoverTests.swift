import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestCopies
import TestPostgres
import Testing

/// A primary that is killed, and a standby that is promoted in its place.
@Suite("The log and failovers", .enabled(if: PostgresProgram.isWanted))
struct GateFailoverTests {
    private let primary: Cluster
    private let standby: Cluster
    private let log: OwnLog

    init() throws {
        primary = try Cluster()
        log = try OwnLog(OwnSchema(primary))
        standby = try Cluster(standbyOf: primary, name: "copy")
    }

    /// A connection string of both, of which the one that can be written to is taken.
    private var both: String { log.schema.serviceOfEither(standby) }

    private func onStandby() throws -> PQConnection {
        try PQConnection(
            PQTarget(standby.tcp("user=\(log.schema.service)")), PQSession(applicationName: "tests"), by: soon(),
            PQInterruption())
    }

    private func replicated(_ number: UInt64) throws -> Bool {
        try standby.psql("SELECT max(number) FROM \(log.schema.name).log_\(log.journal)_0") == "\(number)"
    }

    @Test(
        "A commit that was under way when the primary was killed is kept on the synchronous standby, once, and nothing is lost"
    )
    func synchronous() throws {
        try primary.reload(["synchronous_standby_names": "'copy'"])
        #expect(try eventually { try primary.psql("SELECT sync_state FROM pg_stat_replication") == "sync" })
        let gate = try log.gate(string: both)
        let copy = try Copy(gate)
        for _ in 0..<3 { try copy.commit() }
        // The standby's acknowledgements stop, so that the fourth is on the primary's disk only.
        try primary.reload(["synchronous_standby_names": "'nobody'"])
        #expect(try eventually { try primary.psql("SHOW synchronous_standby_names") == "nobody" })
        let commit = Background { [copy = Handed(copy)] in try copy.value.commit() }
        #expect(try eventually { gate.status.underWay?.number == 4 })
        try primary.killHard()
        try standby.promote()
        try commit.value()
        try copy.commit()
        #expect(try copy.number == 5)
        let folder = try Copy(nil)
        folder.close()
        #expect(try log.builder().build(in: folder.folder.path, over: onStandby()).number == 5)
        #expect(try TableRows(folder.folder.path) == copy.rows)
    }

    @Test("A promotion that lost commits is noticed by the gate and by the copy, which stays")
    func asynchronous() throws {
        let gate = try log.gate(string: both)
        let copy = try Copy(gate)
        try copy.commit()
        #expect(try eventually { try replicated(1) })
        try standby.stop(.immediate)
        for _ in 0..<2 { try copy.commit() }
        try primary.killHard()
        try standby.start()
        try standby.promote()
        #expect(try copy.failure() == .notKept)
        #expect(gate.status.ending == .contradicted)
        let rows = try copy.rows
        copy.close()
        do {
            _ = try log.builder().build(in: copy.folder.path, over: onStandby())
            Issue.record("it is built")
        } catch let error as CopyError {
            #expect("\(error)".contains("this host's copy has commit 3, which the log, ending with commit 1,"))
        }
        #expect(try TableRows(copy.folder.path) == rows)
    }
}
