import Foundation
import Holdfast
import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

@Suite("Taking, holding and releasing a journal by SQL", .enabled(if: PostgresProgram.isWanted))
struct OwnershipCallsTests {
    private let schema: OwnSchema
    private let calls: OwnershipCalls
    private let first: PQConnection
    private let second: PQConnection
    private let journal: Int32

    init() throws {
        schema = try OwnSchema()
        calls = OwnershipCalls(schema.name)
        first = try schema.asService()
        second = try schema.asService()
        journal = try calls.createJournal("a", first, by: soon())
    }

    private func look(_ connection: PQConnection) throws -> Sighting {
        try #require(try calls.look(at: journal, connection, by: soon()))
    }

    private func take(_ seen: Sighting, _ connection: PQConnection) throws -> Int64? {
        try calls.take(journal, seen: seen, host: "host", connection, by: soon())
    }

    private func beat(_ epoch: Int64, _ connection: PQConnection) -> String? {
        do throws(PQError) {
            try calls.beat(journal, epoch: epoch, connection, by: soon())
            return nil
        } catch {
            return error.sqlState
        }
    }

    @Test("A journal is made once for its name, is free, and draws no number in vain")
    func create() throws {
        for _ in 0..<5 { #expect(try calls.createJournal("a", second, by: soon()) == journal) }
        #expect(try calls.createJournal("b", second, by: soon()) == journal + 1)
        #expect(try look(first) == Sighting(epoch: 0, beats: 0, isFree: true))
        #expect(try calls.look(at: 99, first, by: soon()) == nil)
        // Nor where there is no room for its tables.
        try schema.cluster.psql(
            "CREATE FUNCTION \(schema.name).full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
                + "IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity LIKE '\(schema.name).log%') THEN "
                + "RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no room'; END IF; END $$",
            "CREATE EVENT TRIGGER \(schema.name) ON ddl_command_end EXECUTE FUNCTION \(schema.name).full_disk()")
        defer { _ = try? schema.cluster.psql("DROP EVENT TRIGGER \(schema.name)") }
        for _ in 0..<5 {
            #expect(throws: PQError.self) { try calls.createJournal("c", second, by: soon()) }
        }
        try schema.cluster.psql("DROP EVENT TRIGGER \(schema.name)")
        #expect(try calls.createJournal("c", second, by: soon()) == journal + 2)
    }

    @Test("Hosts that make journals at once get one each, and no number is drawn in vain")
    func createAtOnce() throws {
        let schema = self.schema
        let made = (0..<8).map { index in
            Background {
                let connection = try schema.asService()
                defer { connection.close() }
                return try OwnershipCalls(schema.name).createJournal("n\(index / 2)", connection, by: soon())
            }
        }
        let numbers = try made.map { try $0.value() }
        #expect(Set(numbers) == Set(journal + 1...journal + 4))
        #expect(stride(from: 0, to: 8, by: 2).allSatisfy { numbers[$0] == numbers[$0 + 1] })
    }

    @Test("Whoever takes a journal ends the sessions for it that are left, since one may hold a lock, and no other")
    func sessions() throws {
        func session(_ name: String) throws -> PQConnection {
            try PQConnection(
                PQTarget(schema.cluster.tcp("user=\(schema.service)")), PQSession(applicationName: name), by: soon(),
                PQInterruption())
        }
        let left = try session("holdfast log of journal \(journal)")
        let others = [try session("holdfast log of journal \(journal)1"), try session("holdfast blacklist")]
        for one in [left] + others { try one.run([.begin, PQStep("SELECT 1")], by: soon()) }
        #expect(try take(look(first), first) == 1)
        #expect(left.state("SELECT 1") != nil)
        for one in others { #expect(one.state("SELECT 1") == nil) }
    }

    @Test("Beats are counted, and a release makes the journal free in the next epoch")
    func life() throws {
        #expect(try take(look(first), first) == 1)
        #expect(beat(1, first) == nil)
        #expect(beat(1, first) == nil)
        #expect(try look(second) == Sighting(epoch: 1, beats: 2, isFree: false))
        #expect(try calls.releases(second, by: soon()).isEmpty)
        try calls.release(journal, epoch: 1, first, by: soon())
        try schema.psql("UPDATE S.journals SET freed_at = freed_at - INTERVAL '90 s'")
        #expect(try (90...200).contains(calls.releases(second, by: soon())[journal] ?? 0))
        #expect(try look(second) == Sighting(epoch: 2, beats: 0, isFree: true))
        #expect(beat(1, first) == "HF001")
        #expect(try take(look(second), second) == 3)
        #expect(try calls.releases(second, by: soon()).isEmpty)
    }

    @Test("A former owner can neither beat nor release, whatever it does")
    func formerOwner() throws {
        #expect(try take(look(first), first) == 1)
        #expect(try take(look(second), second) == 2)
        let again = try schema.asService()
        #expect(beat(1, again) == "HF001")
        let error = #expect(throws: PQError.self) { try calls.release(journal, epoch: 1, again, by: soon()) }
        #expect(error?.sqlState == "HF001")
        #expect(try look(second) == Sighting(epoch: 2, beats: 0, isFree: false))
        #expect(beat(2, second) == nil)
    }

    @Test("A beat since the look keeps the journal from being taken")
    func beatSinceLook() throws {
        #expect(try take(look(first), first) == 1)
        let seen = try look(second)
        #expect(beat(1, first) == nil)
        #expect(try take(seen, second) == nil)
        #expect(try look(second) == Sighting(epoch: 1, beats: 1, isFree: false))
        #expect(beat(1, first) == nil)
    }

    @Test("A beat that is not committed yet is waited for, and keeps the journal from being taken")
    func beatUnderWay() throws {
        #expect(try take(look(first), first) == 1)
        let seen = try look(second)
        try first.run([.begin], by: soon())
        #expect(beat(1, first) == nil)
        let (calls, journal, second) = (calls, journal, second)
        let taking = Background { try calls.take(journal, seen: seen, host: "h", second, by: soon()) }
        #expect(
            try eventually {
                let backend = second.facts.backend
                return try schema.psql("SELECT wait_event_type FROM pg_stat_activity WHERE pid = \(backend)") == "Lock"
            })
        try first.run([.commit], by: soon())
        #expect(try taking.value() == nil)
        #expect(beat(1, first) == nil)
    }

    @Test("Of takers at once one succeeds")
    func takersAtOnce() throws {
        let seen = try look(first)
        let (calls, journal) = (calls, journal)
        let takers = try (0..<6).map { _ in
            let connection = try schema.asService()
            return Background { try calls.take(journal, seen: seen, host: "h", connection, by: soon()) }
        }
        #expect(try takers.compactMap { try $0.value() } == [1])
    }

    @Test("A taker ends the session of the former owner, also one that beat over a new connection")
    func endsSession() throws {
        #expect(try take(look(first), first) == 1)
        let renewed = try schema.asService()
        #expect(beat(1, renewed) == nil)
        #expect(try take(look(second), second) == 2)
        #expect(try eventually { renewed.state("SELECT 1") == "57P01" })
        #expect(first.state("SELECT 1") == nil)
        // The same session, which is its own predecessor, stays.
        #expect(try take(look(second), second) == 3)
        #expect(second.state("SELECT 1") == nil)
    }

    @Test("A session that has the former owner's number by chance is left alone")
    func otherSession() throws {
        #expect(try take(look(first), first) == 1)
        try schema.psql("UPDATE S.journals SET session_start = session_start - interval '1 ms'")
        #expect(try take(look(second), second) == 2)
        #expect(first.state("SELECT 1") == nil)
    }

    @Test("Renewing a beat writes no new row version of the journal's, and stays in its page")
    func beatsAreSmall() throws {
        #expect(try take(look(first), first) == 1)
        let before = try schema.psql("SELECT xmin FROM S.journals")
        for _ in 0..<20 { #expect(beat(1, first) == nil) }
        #expect(try schema.psql("SELECT xmin FROM S.journals") == before)
        #expect(try schema.psql("SELECT pg_relation_size('S.beats')") == "8192")
    }
}

@Suite("Ownership and standbys", .enabled(if: PostgresProgram.isWanted))
struct StandbyOwnershipTests {
    @Test("A standby does not answer a look, and does when it was promoted")
    func standby() throws {
        let schema = try OwnSchema(Cluster())
        let calls = OwnershipCalls(schema.name)
        let journal = try calls.createJournal("a", try schema.asService(), by: soon())
        let standby = try Cluster(standbyOf: schema.cluster, name: "two")
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = '\(schema.name)'"
        let made = try schema.psql(tables)
        #expect(try eventually { try standby.psql(tables) == made })
        let target = try PQTarget(standby.tcp("user=\(schema.service)"))
        let connection = try PQConnection(target, PQSession(applicationName: "tests"), by: soon(), PQInterruption())
        let error = #expect(throws: PQError.self) { try calls.look(at: journal, connection, by: soon()) }
        #expect(error?.sqlState == "25006")
        try standby.promote()
        #expect(try calls.look(at: journal, connection, by: soon()) != nil)
    }
}
