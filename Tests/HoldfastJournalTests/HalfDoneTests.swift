import Foundation
import Holdfast
import HoldfastJournal
import Testing

/// Requests that take several commits, of which a later one fails.
@Suite("What is half done")
struct HalfDoneTests {
    /// A journal that is stepped, with five deferred entries.
    private func open(
        _ scratch: Scratch, _ fault: Monitor<StorageFaults.Commit?>
    ) throws -> (journal: LMDBJournal, lane: LaneID) {
        var faults = StorageFaults()
        faults.entriesCommit = { fault.withLock { fault in fault } }
        var options = LMDBJournal.Options()
        options.durability = .process
        options.greatestSettlementCommit = 2
        options.stepping = Stepping(identityKey: IdentityKey(first: 1, second: 2), faults: faults)
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        let lane = try journal.openLane(immediate).id
        journal.append(submission(0..<5, lane, producer: try journal.openProducer("default"))) { _ in }
        let deferrals = uids(1...5).map { uid in
            Settlement(
                EntryKey(lane: lane, uid: uid),
                .deferUntil(acceptance, attempts: 1, reason: .neverProcessed, possiblySent: false))
        }
        journal.settle(SettlementBatch(others: deferrals)) { _ in }
        while journal.step() != nil {}
        return (journal, lane)
    }

    @Test("A promotion that fails halfway names what it has brought back, and the rest comes with the next one")
    func promotion() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let fault = Monitor<StorageFaults.Commit?>(nil)
        let (journal, lane) = try open(scratch, fault)
        #expect(try journal.uids(lane) == [])
        let told = Monitor<[[UID]?]>([])
        func promote() {
            journal.promoteDue(lane, after: nil, now: acceptance, limit: 10) { result in
                told.withLock { told in told.append(try? result.get()) }
            }
        }
        promote()
        #expect(journal.step() == .visible)
        #expect(try journal.uids(lane) == uids(1...2))
        fault.withLock { fault in fault = .diskFull }
        while told.withLock({ told in told.isEmpty }), journal.step() != nil {}
        #expect(told.withLock { told in told } == [uids(1...2)])
        fault.withLock { fault in fault = nil }
        promote()
        while journal.step() != nil {}
        #expect(told.withLock { told in told } == [uids(1...2), uids(3...5)])
        #expect(try journal.uids(lane) == uids(1...5))
        journal.close()
    }
}
