import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import Testing

@Suite("Send marks")
struct MarkTests {
    /// Gathers what the journal reports, commit by commit.
    final class Reports: Sendable {
        private let reports = Monitor<[CommitReport.Lane]>([])

        init(_ journal: LMDBJournal) throws {
            try journal.observeCommits { [reports] report in
                reports.withLock { reports in reports += report.lanes }
                reports.broadcast()
            }
        }

        var all: [CommitReport.Lane] { reports.withLock { $0 } }

        func wait(for body: @escaping ([CommitReport.Lane]) -> Bool) -> Bool {
            reports.wait(atMost: .seconds(30)) { reports in body(reports) ? true : nil } ?? false
        }
    }

    @Test("A ceiling above the last UID rides along with later commits, and forces none of its own")
    func ceilingAhead() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let reports = try Reports(journal)
        journal.raiseMark(of: lane, to: UID(100))
        for expected: UInt64 in [10, 20] {
            _ = try journal.append(0..<10, to: lane)
            #expect(reports.all.last == CommitReport.Lane(id: lane, lastUID: UID(expected), mark: UID(expected)))
        }
        _ = try journal.append(0..<90, to: lane)
        #expect(reports.all.last == CommitReport.Lane(id: lane, lastUID: UID(110), mark: UID(100)))
        #expect(reports.all.count == 3)
    }

    @Test("A mark below both its ceiling and the last UID is raised at once, without another commit coming")
    func forced() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<10, to: lane)
        let reports = try Reports(journal)
        journal.raiseMark(of: lane, to: UID(4))
        #expect(reports.wait { $0.last?.mark == UID(4) })
        // A lower ceiling never lowers the mark.
        journal.raiseMark(of: lane, to: UID(2))
        journal.raiseMark(of: lane, to: UID(10))
        #expect(reports.wait { $0.last?.mark == UID(10) })
        #expect(reports.all.map(\.mark) == [UID(4), UID(10)])
    }

    @Test("A ceiling raised while a commit is under way does not wait for the next one")
    func raisedMeanwhile() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.openProducer("default")
        let reports = try Reports(journal)
        let clock = ContinuousClock()
        // The thread looks again each second anyway: only many rounds tell.
        let took = try clock.measure {
            for round: UInt64 in 1...20 {
                let box = Box<Bool>()
                journal.append(submission([1], lane)) { _ in
                    journal.raiseMark(of: lane, to: UID(round))
                    box.put(true)
                }
                _ = try box.get()
                #expect(reports.wait { $0.last?.mark == UID(round) })
            }
        }
        #expect(took < .seconds(10))
    }

    @Test("The report comes before the completion of what the commit held")
    func reportFirst() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.openProducer("default")
        let reports = try Reports(journal)
        let box = Box<UID?>()
        journal.append(submission(0..<3, lane)) { _ in box.put(reports.all.last?.lastUID) }
        #expect(try box.get() == UID(3))
    }

    @Test("A lane is opened with its mark as it is then, which divides what a crash leaves possibly sent")
    func markAtOpen() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate)
        #expect(lane.markAtOpen == .none)
        journal.raiseMark(of: lane.id, to: UID(6))
        _ = try journal.append(0..<10, to: lane.id)
        try journal.acknowledge([UID(1)], lane.id)
        try journal.settle(
            UID(2), lane.id, .deferUntil(.init(milliseconds: 1), attempts: 1, reason: .shutdown, possiblySent: false))
        // 3 to 6; 2 is among the deferred and so certainly not sent since.
        #expect(try journal.status().possiblySent == 4)
        journal.close()

        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        journal.raiseMark(of: lane.id, to: UID(9))
        _ = try journal.append(0..<1, to: lane.id)
        // A second engine in one life must not take for never sent what the first one has handed out.
        let reopened = try journal.openLane(immediate)
        #expect(reopened == LaneOpening(id: lane.id, markAtOpen: UID(9), lastUID: UID(11)))
        #expect(try journal.status().lanes.first?.mark == UID(9))
        #expect(try journal.openLane(once).markAtOpen == .none)
    }

    @Test("A mark that is set back stays there over commits and a reopening, until it is raised again")
    func lowered() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        journal.raiseMark(of: lane, to: UID(100))
        _ = try journal.append(0..<10, to: lane)
        #expect(try journal.status().possiblySent == 10)
        let box = Box<Bool>()
        journal.lowerMark(of: lane, to: UID(3)) { result in box.put((try? result.get()) != nil) }
        #expect(try box.get())
        #expect(try journal.status().possiblySent == 3)
        // The ceiling of 100 counts no more.
        _ = try journal.append(0..<10, to: lane)
        #expect(try journal.status().lanes.first?.mark == UID(3))
        journal.close()

        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(try journal.openLane(immediate).markAtOpen == UID(3))
        let reports = try Reports(journal)
        journal.raiseMark(of: lane, to: UID(12))
        #expect(reports.wait { $0.last?.mark == UID(12) })
        // Lowering never raises.
        let again = Box<Bool>()
        journal.lowerMark(of: lane, to: UID(50)) { result in again.put((try? result.get()) != nil) }
        #expect(try again.get())
        #expect(try journal.status().lanes.first?.mark == UID(12))
    }
}
