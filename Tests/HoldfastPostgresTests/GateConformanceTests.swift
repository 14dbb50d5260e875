import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Scratch
import TestCopies
import TestPostgres
import Testing

@Suite(
    "The embedded journal with its log in PostgreSQL", .timeLimit(.minutes(5)), .enabled(if: PostgresProgram.isWanted))
struct GateConformanceTests {
    private struct NotOurs: Error {}

    @Test("It keeps the rules of a journal, and the log makes all of it again", arguments: JournalConformance.rules)
    func keeps(rule: JournalConformance.Rule) async throws {
        let folder = try TemporaryFolder()
        let log = try OwnLog()
        var options = JournalOptions()
        options.gate = OwnIdentities(gate: try log.gate(), journal: log.journal)
        options.durability = .process
        let (chosen, directory) = (options, folder("test.journal"))
        let conformance = JournalConformance(
            make: { try LMDBJournal(directory: directory, options: chosen) },
            reopen: { journal in
                guard let journal = journal as? LMDBJournal else { throw NotOurs() }
                journal.close()
                return try LMDBJournal(directory: journal.directory, options: chosen)
            })
        try await conformance.check(rule)
        let rows = try TableRows(directory + "/entries")
        let connection = try log.schema.asService()
        defer { connection.close() }
        #expect(try rebuilt(log, over: connection).differences(from: rows) == [])
        // And so does a checkpoint of it.
        let entries = try Environment.open(directory + "/entries", .readOnly, mapByteCount: nil, tables: 64)
        defer { entries.close() }
        let made = try log.checkpointer().make(of: entries, over: connection)
        #expect(try made.isTrimmed && made.number == log.state().last)
        #expect(try rebuilt(log, over: connection).differences(from: rows) == [])
    }
    @Test("Another host takes the journal and goes on with what was committed, and the former owner accepts nothing")
    func takeover() throws {
        let (log, folder) = (try OwnLog(), try TemporaryFolder())
        let (here, there) = (folder("here.journal"), folder("there.journal"))
        var options = JournalOptions()
        options.durability = .process
        options.gate = try log.gate()
        let lanes = ["one", "two", "three"].map { LaneKey(route: $0, urgency: .immediate, guarantee: .atLeastOnce) }
        let journal = try LMDBJournal(directory: here, options: options)
        let lane = try journal.openLane(lanes[0])
        let epoch = try log.take()
        #expect(throws: JournalError.self) { try journal.openLane(lanes[1]) }
        journal.close()

        // The directory is a new journal's, all but the entries.
        try LMDBJournal(directory: there).close()
        for name in ["data.mdb", "lock.mdb"] { try FileManager.default.removeItem(atPath: there + "/entries/" + name) }
        let connection = try log.schema.asService()
        let place = try log.builder(epoch: epoch).build(in: there + "/entries", over: connection)
        #expect(try TableRows(there + "/entries") == TableRows(here + "/entries"))
        options.gate = try log.gate(after: place.number, epoch: epoch)
        let next = try LMDBJournal(directory: there, options: options)
        #expect(try next.openLane(lanes[0]).id == lane.id)
        #expect(try next.openLane(lanes[2]).id != lane.id)
        next.close()
        #expect(try rebuilt(log, epoch: epoch, over: connection) == TableRows(there + "/entries"))
    }
}

/// The journals of these tests share a schema, and the rules have identities in common.
private struct OwnIdentities: CommitGate {
    let gate: PostgresGate
    let journal: Int32

    func keep(
        _ effects: [UInt8], taking rows: [Int64], claiming claims: [CommitClaim]
    ) throws(LMDBError) -> GateAnswer {
        let own = claims.map { CommitClaim(high: UInt64(journal), low: $0.high ^ $0.low, value: $0.value) }
        return try gate.keep(effects, taking: rows, claiming: own)
    }
}
