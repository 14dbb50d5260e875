import Foundation
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

@Suite("The gate, with a real server and what comes between", .enabled(if: PostgresProgram.isWanted))
struct PostgresGateTests {
    private let log: OwnLog

    init() throws { log = try OwnLog() }

    /// A copy whose gate has kept two commits.
    private func begun(_ gate: PostgresGate) throws -> Copy {
        let copy = try Copy(gate)
        for _ in 0..<2 { try copy.commit() }
        return copy
    }

    @Test("What is committed is in the log, by the numbers of the copy, and makes the same copy")
    func keeps() throws {
        let copy = try begun(log.gate())
        try copy.commit(300, value: 9000)
        #expect(try copy.number == 3 && log.kept() == "1,2,3")
        #expect(try rebuilt(log) == copy.rows)
    }

    @Test(
        "A connection that is cut in a commit is made anew until it is known: kept, once",
        arguments: [
            FaultProxy.Fault.cutBefore("keep_commit"), .cutShort("keep_commit", by: 1),
            .cutShort("keep_commit", by: 40),
            .cutAfter("keep_commit"), .cutAnswer("keep_commit", after: 3), .silentAfter("keep_commit"),
        ])
    func cuts(fault: FaultProxy.Fault) throws {
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let gate = try log.gate(
            port: proxy.port, answer: fault == .silentAfter("keep_commit") ? .milliseconds(300) : .seconds(30))
        let copy = try begun(gate)
        proxy.fail(fault)
        let commit = Background { [copy = Handed(copy)] in try copy.value.commit() }
        #expect(try eventually { gate.status.trouble != nil })
        #expect(gate.status.underWay?.number == 3)
        proxy.fail(nil)
        try commit.value()
        #expect(gate.status.trouble == nil && gate.status.underWay == nil && gate.status.ending == nil)
        try copy.commit()
        #expect(try copy.number == 4 && log.kept() == "1,2,3,4")
        #expect(try rebuilt(log) == copy.rows)
    }

    @Test("A connection that was cut between two commits is made anew")
    func cutBetween() throws {
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let copy = try begun(log.gate(port: proxy.port))
        proxy.cut()
        try copy.commit()
        #expect(try copy.number == 3)
    }

    @Test("Cut after cut, at any byte, nothing is lost and nothing is twice")
    func manyCuts() throws {
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let copy = try Copy(log.gate(port: proxy.port))
        for round in 0..<12 {
            proxy.fail(
                round % 2 == 0 ? .cutShort("keep_commit", by: round * 7) : .cutAnswer("keep_commit", after: round * 5))
            let commit = Background { [copy = Handed(copy)] in try copy.value.commit() }
            usleep(20_000)
            proxy.fail(nil)
            try commit.value()
        }
        #expect(try copy.number == 12 && log.state().last == 12)
        #expect(try rebuilt(log) == copy.rows)
    }

    @Test("The commit after a takeover is refused, and nothing of it is in the log")
    func takeover() throws {
        let gate = try log.gate()
        let copy = try begun(gate)
        let before = try copy.rows
        let epoch = try log.take()
        #expect(try copy.failure() == .notKept)
        #expect(gate.status.ending == .ownershipLost)
        #expect(try copy.failure() == .notKept)
        #expect(try copy.rows == before && log.kept() == "1,2")
        #expect(try rebuilt(log, epoch: epoch) == before)
    }

    @Test("A commit in doubt when another takes the journal is undetermined, and it is in the log")
    func takeoverInDoubt() throws {
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let gate = try log.gate(port: proxy.port)
        let copy = try begun(gate)
        proxy.fail(.cutAfter("keep_commit"))
        let commit = Background { [copy = Handed(copy)] in try copy.value.failure() }
        #expect(try eventually { try log.state().last == 3 && gate.status.trouble != nil })
        let epoch = try log.take()
        proxy.fail(nil)
        #expect(try commit.value() == .copyIsBehind)
        #expect(gate.status.ending == .ownershipLost)
        #expect(try copy.number == 2)
        // The copy goes on from there.
        copy.close()
        let connection = try log.schema.asService()
        let place = try log.builder(epoch: epoch).build(in: copy.folder.path, over: connection)
        #expect(place.number == 3)
        let next = try Copy(log.gate(after: 3, epoch: epoch), in: copy.folder)
        try next.commit()
        #expect(try next.number == 4 && rebuilt(log, epoch: epoch) == next.rows)
    }

    @Test(
        "A gate that is told to stop wakes at once: not kept where nothing was sent, undetermined where it may be kept",
        arguments: [true, false])
    func stop(isSent: Bool) throws {
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let gate = try log.gate(port: proxy.port)
        let copy = try begun(gate)
        proxy.fail(isSent ? .silentAfter("keep_commit") : .cutBefore("schema_version"))
        if !isSent { proxy.cut() }
        let commit = Background { [copy = Handed(copy)] in try copy.value.failure() }
        #expect(try eventually { isSent ? try log.state().last == 3 : gate.status.trouble != nil })
        let start = ContinuousClock.now
        gate.stop()
        #expect(try commit.value() == (isSent ? .copyIsBehind : .notKept))
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(gate.status.ending == .stopped)
        #expect(try copy.failure() == .notKept)
        #expect(try copy.number == 2)
    }

    @Test("A log that lacks what this gate has kept, or has another commit in its place, ends the gate")
    func contradicted() throws {
        let gate = try log.gate()
        let copy = try begun(gate)
        try log.psql("DELETE FROM LOG_0 WHERE number = 2")
        #expect(try copy.failure() == .notKept)
        #expect(gate.status.ending == .contradicted)
        // Another gate of the same owner, which should not be.
        let (first, second) = (try log.gate(after: 1), try log.gate(after: 1))
        let copies = [try Copy(first, seed: 2), try Copy(second, seed: 3)]
        #expect(try copies[0].failure() == nil)
        #expect(try copies[1].failure() == .notKept)
        #expect(second.status.ending == .contradicted)
    }

    @Test("Two journals in one schema know nothing of each other")
    func twoJournals() throws {
        let other = try OwnLog(log.schema)
        let copies = [try Copy(log.gate(), seed: 2), try Copy(other.gate(), seed: 3)]
        for _ in 0..<5 { for copy in copies { try copy.commit() } }
        #expect(try rebuilt(log) == copies[0].rows && rebuilt(other) == copies[1].rows)
    }
}

/// For one thread at a time.
struct Handed<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

@Suite("The gate and a server that ends", .serialized, .enabled(if: PostgresProgram.isWanted))
struct GateServerTests {
    @Test("A commit waits for a server that was stopped or killed, with the reason told, and is kept when it is back")
    func restarts() throws {
        let cluster = try Cluster()
        let log = try OwnLog(OwnSchema(cluster))
        let gate = try log.gate()
        let copy = try Copy(gate)
        try copy.commit()
        for stop in [Cluster.Stop.immediate, .fast] {
            let number = try copy.number
            try cluster.stop(stop)
            let commit = Background { [copy = Handed(copy)] in try copy.value.commit() }
            #expect(try eventually { gate.status.trouble != nil })
            let trouble = try #require(gate.status.trouble)
            usleep(100_000)
            #expect(gate.status.underWay?.number == number + 1 && gate.status.trouble?.since == trouble.since)
            try cluster.start()
            try commit.value()
        }
        #expect(try copy.number == 3 && rebuilt(log) == copy.rows)
        try cluster.stop(.immediate)
        let commit = Background { [copy = Handed(copy)] in try copy.value.failure() }
        #expect(try eventually { gate.status.trouble != nil })
        gate.stop()
        #expect(try commit.value() == .notKept)
    }

    @Test(
        "Without its standby nothing is accepted, tries leave no sessions behind, and it is kept once when the standby is back"
    )
    func standbyAway() throws {
        let cluster = try Cluster()
        let log = try OwnLog(OwnSchema(cluster))
        let gate = try log.gate(answer: .milliseconds(300))
        let copy = try Copy(gate)
        try copy.commit()
        try cluster.reload(["synchronous_standby_names": "'nobody'"])
        #expect(try eventually { try cluster.psql("SHOW synchronous_standby_names") == "nobody" })
        let commit = Background { [copy = Handed(copy)] in try copy.value.commit() }
        #expect(try eventually { gate.status.trouble != nil })
        usleep(1_500_000)
        // In doubt, it was repeated, and the repeat is not believed before the standby has it.
        #expect(gate.status.underWay?.number == 2)
        #expect(try copy.number == 1)
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ 'holdfast log'"
        #expect(try Int(cluster.psql(sessions)) ?? 0 <= 2)
        // Somebody cancels the waiting, which the server calls a success.
        let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        #expect(try eventually { try cluster.psql(cancel) == "1" })
        usleep(400_000)
        #expect(try copy.number == 1)
        #expect(gate.status.underWay?.number == 2)
        try cluster.psql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        try commit.value()
        #expect(try copy.number == 2 && log.kept() == "1,2")
    }

    @Test("A server without room refuses commits, and they wait for it")
    func full() throws {
        let log = try OwnLog()
        let gate = try log.gate()
        let copy = try Copy(gate)
        try copy.commit()
        let name = log.schema.name
        // What the server says on a full disk, from within the insertion.
        try log.psql(
            """
            CREATE FUNCTION \(name).full_\(log.journal)() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space left on device'; END $$;
            CREATE TRIGGER full_disk BEFORE INSERT ON LOG_0 FOR EACH ROW EXECUTE FUNCTION \(name).full_\(log.journal)()
            """)
        let commit = Background { [copy = Handed(copy)] in try copy.value.commit() }
        #expect(try eventually { gate.status.trouble?.words.contains("no space left on device") ?? false })
        #expect(try copy.number == 1)
        try log.psql("DROP TRIGGER full_disk ON LOG_0; DROP FUNCTION \(name).full_\(log.journal)()")
        try commit.value()
        #expect(try copy.number == 2 && rebuilt(log) == copy.rows)
    }
}
