import Foundation
import Holdfast
import HoldfastJournal
import Testing

@Suite("Appending")
struct AppendTests {
    @Test("What was appended is read back, in order and unchanged")
    func roundTrip() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let first = try journal.append(0..<2500, to: lane)
        #expect(first == UID(1))
        let entries = try journal.all(lane, limit: 700)
        #expect(entries.map(\.uid) == uids(1...2500))
        for (index, entry) in entries.enumerated() {
            #expect(entry.notification.payload == sample(index).payload)
            #expect(entry.notification.token == sample(index).token)
            #expect(entry.attempts == 0)
        }
        #expect(journal.depth(lane) == 2500)
    }

    @Test("UIDs increase across reopening, and are not given out again when everything is settled")
    func uidsAcrossReopen() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var next: UInt64 = 1
        for _ in 0..<3 {
            let journal = try LMDBJournal(directory: scratch.journal)
            let lane = try journal.openLane(immediate)
            #expect(lane.lastUID == UID(next - 1))
            #expect(try journal.append(0..<10, to: lane.id) == UID(next))
            try journal.acknowledge(uids(next...next + 9), lane.id)
            next += 10
            journal.close()
        }
    }

    @Test("A submission may mix lanes: its UIDs run through, and each lane has its own")
    func mixedLanes() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lanes = [
            try journal.openLane(immediate).id, try journal.openLane(considerate).id, try journal.openLane(once).id,
        ]
        _ = try journal.openProducer("default")
        var mixed = Submission()
        for number in 0..<300 { mixed.add(sample(number), lanes[number % 3]) }
        for round in 0..<3 {
            #expect(try journal.append(mixed).first == UID(UInt64(round * 300 + 1)))
        }
        for (index, lane) in lanes.enumerated() {
            let entries = try journal.all(lane)
            #expect(entries.map(\.uid) == (0..<300).map { UID(UInt64($0 * 3 + index + 1)) })
            #expect(entries.first?.notification.payload == sample(index).payload)
            #expect(journal.depth(lane) == 300)
        }
    }

    @Test("Lanes are independent: reading, settling and depth of one know nothing of the other")
    func independentLanes() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let one = try journal.openLane(immediate).id
        let two = try journal.openLane(considerate).id
        _ = try journal.append(0..<100, to: two)
        _ = try journal.append(0..<5, to: one)
        #expect(try journal.uids(one) == uids(101...105))
        // The same UID under the other lane's number names nothing.
        #expect(try journal.acknowledge([UID(101)], two) == SettlementReport(settled: 0, gone: 1))
        #expect(journal.depth(one) == 5)
        #expect(journal.depth(two) == 100)
    }

    @Test("An append to a lane that was never opened is refused, and takes nothing with it")
    func unknownLane() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        #expect(throws: JournalError.self) { try journal.append(0..<3, to: LaneID(rawValue: 9)) }
        #expect(try journal.append(0..<1, to: lane) == UID(1))
    }

    @Test("A note given with a submission is there with it, after reopening too")
    func noteWithSubmission() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        _ = try journal.openProducer("default")
        var withNote = submission(0..<2, try journal.openLane(immediate).id)
        withNote.note = ("file:/a.ndjson", [1, 2, 3])
        _ = try journal.append(withNote)
        try journal.setNote("other", to: [9])
        try journal.setNote("other", to: nil)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(try journal.note("file:/a.ndjson") == [1, 2, 3])
        #expect(try journal.note("other") == nil)
    }

    @Test("Many threads submit at once: every receipt is distinct, and everything is there")
    func manySubmitters() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.openProducer("default")
        let receipts = Monitor<[UInt64: Int]>([:])
        let done = Box<Bool>()
        let threads = 8
        let each = 200
        for thread in 0..<threads {
            Thread.detachNewThread {
                for round in 0..<each {
                    let number = thread * each + round
                    journal.append(submission([number, number], lane)) { result in
                        guard case .success(let appended) = result else { return }
                        let all = receipts.withLock { receipts in
                            receipts[appended.first.rawValue] = number
                            return receipts.count == threads * each
                        }
                        if all { done.put(true) }
                    }
                }
            }
        }
        #expect(try done.get())
        let entries = try journal.all(lane)
        #expect(entries.map(\.uid) == uids(1...UInt64(2 * threads * each)))
        for (uid, number) in receipts.withLock({ $0 }) {
            #expect(entries[Int(uid) - 1].notification.payload == sample(number).payload)
            #expect(entries[Int(uid)].notification.payload == sample(number).payload)
        }
    }

    @Test("Completions come in the order of the calls, whatever was called that one commit can hold")
    func completionOrder() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<5000, to: lane)
        let order = Monitor<[Int]>([])
        let done = Box<Bool>()
        for call in 0..<300 {
            let note: @Sendable () -> Void = {
                let count = order.withLock { order in
                    order.append(call)
                    return order.count
                }
                if count == 300 { done.put(true) }
            }
            switch call % 4 {
            case 0: journal.append(submission([call], lane)) { _ in note() }
            case 1:
                journal.settle(SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: UID(UInt64(call)))])) { _ in
                    note()
                }
            case 2: journal.promoteDue(lane, after: nil, now: .init(milliseconds: 0), limit: 5) { _ in note() }
            default:
                let many = uids(1...900).map { uid in EntryKey(lane: lane, uid: uid) }
                journal.settle(SettlementBatch(acknowledging: call == 3 ? many : [])) { _ in note() }
            }
        }
        #expect(try done.get())
        #expect(order.withLock { $0 } == Array(0..<300))
    }

    @Test("After close everything answers that it is closed")
    func closed() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        journal.close()
        journal.close()
        #expect { try journal.append(0..<1, to: lane) } throws: { ($0 as? JournalError)?.code == .closed }
        #expect { try journal.unconfirmed(lane, after: .none, through: .max, limit: 1) } throws: {
            ($0 as? JournalError)?.code == .closed
        }
        #expect { try journal.openLane(once) } throws: { ($0 as? JournalError)?.code == .closed }
        #expect { try journal.blacklist.list(after: nil, limit: 1) } throws: { ($0 as? JournalError)?.code == .closed }
    }
}
