import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB
import HoldfastTesting
import TestCopies
import Testing

/// A journal whose commits are kept elsewhere first, and what is made of that there.
@Suite("A journal that is a working copy", .timeLimit(.minutes(5))) struct WorkingCopyTests {
    private struct NotOurs: Error {}

    private static func rebuilt(_ effects: [[UInt8]], in directory: String) throws -> TableRows {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let copy = try Environment.open(directory, .readWriteUnsynced, mapByteCount: 1 << 32, tables: 32)
        var next = 0
        while next < effects.count {
            let end = min(effects.count, next + 50)
            try WorkingCopy.apply(Array(effects[next..<end]), number: UInt64(end), to: copy)
            next = end
        }
        copy.close()
        return try TableRows(directory)
    }

    @Test(
        "It keeps the rules of a journal, and what was kept makes all of it again", arguments: JournalConformance.rules)
    func rebuilds(rule: JournalConformance.Rule) async throws {
        let (scratch, gate) = (Scratch(), KeptEffects())
        defer { scratch.remove() }
        var options = JournalOptions()
        options.gate = gate
        options.durability = .process
        let chosen = options
        let conformance = JournalConformance(
            make: { try LMDBJournal(directory: scratch.journal, options: chosen) },
            reopen: { journal in
                guard let journal = journal as? LMDBJournal else { throw NotOurs() }
                journal.close()
                return try LMDBJournal(directory: journal.directory, options: chosen)
            })
        try await conformance.check(rule)
        let expected = try TableRows(scratch.journal + "/entries")
        let effects = gate.kept
        #expect(!effects.isEmpty && !expected.tables.isEmpty)
        let made = try Self.rebuilt(effects, in: scratch.path + "/rebuilt")
        #expect(made.differences(from: expected) == [])
    }

    @Test("A copy that was deleted while it was opened is not gone on with as an empty one")
    func emptied() throws {
        let (scratch, gate) = (Scratch(), KeptEffects())
        defer { scratch.remove() }
        func open(_ number: UInt64?) throws -> LMDBJournal {
            var options = JournalOptions()
            options.gate = gate
            options.durability = .process
            options.copyNumber = number
            return try LMDBJournal(directory: scratch.journal, options: options)
        }
        let first = try open(nil)
        _ = try first.openLane(LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce))
        first.close()
        try open(UInt64(gate.kept.count)).close()
        let kept = gate.kept.count
        try FileManager.default.removeItem(atPath: scratch.journal)
        let error = #expect(throws: JournalError.self) { try open(UInt64(kept)) }
        #expect(error?.code == .copyLost && gate.kept.count == kept)
    }
}
