import Foundation
import Holdfast
import HoldfastLMDB
import TestCopies
import Testing

@testable import HoldfastJournal

@Suite("The rows of a queue that a journal remembers") struct TakenRowsTests {
    private let scratch = Scratch()

    private func open(_ gate: (any CommitGate)? = KeptEffects()) throws -> LMDBJournal {
        var options = JournalOptions()
        options.gate = gate
        options.durability = .process
        return try LMDBJournal(directory: scratch.journal, options: options)
    }

    /// Takes rows in a commit of their own, as repeats do: nothing is appended.
    private func take(_ numbers: [Int64], at seconds: Int64, _ journal: LMDBJournal) async throws {
        var submission = Submission(producer: try journal.openProducer("sql"), acceptedAt: WallTime(seconds: seconds))
        submission.taking = numbers.map { QueueRow(number: $0, time: $0 * 10) }
        let chosen = submission
        _ = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Appended, any Error>) in
            journal.append(chosen) { result in done.resume(with: result.mapError { $0 as any Error }) }
        }
    }

    @Test("They are remembered with the commit that took them, in the journal and in a closed copy, for an hour")
    func remembered() async throws {
        defer { scratch.remove() }
        let gate = KeptEffects()
        let journal = try open(gate)
        try await take([1, 2], at: 1000, journal)
        try await take([3], at: 2000, journal)
        #expect(try journal.takenRows().rows.map(\.number).sorted() == [1, 2, 3])
        #expect(try journal.takenRows().rows.contains(QueueRow(number: 2, time: 20)))
        let before = try journal.takenRows()
        #expect(before.forgotten == 0)
        // An hour behind the first.
        try await take([4], at: 4601, journal)
        let after = try journal.takenRows()
        #expect(after.rows.map(\.number).sorted() == [3, 4] && after.forgotten > 0)
        // The commit of the last; closing makes another.
        let last = UInt64(gate.kept.count)
        journal.close()
        let copy = try Environment.open(
            scratch.journal + "/entries", .readWriteUnsynced, mapByteCount: 1 << 32, tables: 64)
        defer { copy.close() }
        #expect(try TakenRows(in: copy, after: 0) == after)
        #expect(try TakenRows(in: copy, after: 1 << 40).rows.isEmpty)
        #expect(try TakenRows(in: copy, after: last - 1).rows.map(\.number) == [4])
    }

    @Test("Of those behind which a million notifications came nothing is remembered, nor without a gate")
    func bounds() async throws {
        defer { scratch.remove() }
        let note = TakenNote(number: 7, nextUID: 5, acceptedAt: WallTime(seconds: 0), rows: [])
        #expect(!note.isOld(nextUID: 1_000_005, at: WallTime(seconds: 3600)))
        #expect(note.isOld(nextUID: 1_000_006, at: WallTime(seconds: 0)))
        #expect(note.isOld(nextUID: 5, at: WallTime(seconds: 3601)))
        #expect(TakenNote.number(of: TakenNote.key(.max)) == .max)
        #expect(TakenNote.key(9).lexicographicallyPrecedes(TakenNote.key(16)))
        let journal = try open(nil)
        try await take([1], at: 1000, journal)
        #expect(try journal.takenRows() == TakenRows())
        journal.close()
    }
}
