import Foundation
import Holdfast
import Testing

@testable import HoldfastJournal
@testable import HoldfastLMDB

/// One page of the entries as it was some commits ago, as a disk leaves it that has lost a write.
@Suite("A page of an older time", .timeLimit(.minutes(2)))
struct LostWriteTests {
    /// A journal at rest that has lived a while: two copies of its file, and what is true of the newer one.
    private struct Life {
        let scratch: Scratch
        let older: [UInt8]
        let newer: [UInt8]
        /// What may be handed out, now or when it is due.
        let waiting: Set<UID>
        let pageByteCount = 4096

        var file: String { scratch.journal + "/entries/data.mdb" }

        init(_ scratch: Scratch) throws {
            self.scratch = scratch
            var options = LMDBJournal.Options()
            options.durability = .process
            let journal = try LMDBJournal(directory: scratch.journal, options: options)
            let lanes = try [immediate, considerate].map { try journal.openLane($0).id }
            var open: [LaneID: [UID]] = [:]
            var older: [UInt8] = []
            for round in 0..<8 {
                for lane in lanes {
                    let first = try journal.append(0..<(20 + 7 * round), to: lane).rawValue
                    open[lane, default: []] += (0..<UInt64(20 + 7 * round)).map { UID(first + $0) }
                    let uids = open[lane, default: []]
                    try Self.end(uids.prefix(uids.count / 2), lane, journal)
                    open[lane] = Array(uids.dropFirst(uids.count / 2))
                }
                if round == 5 { older = try Self.bytes(scratch) }
            }
            journal.close()
            self.older = older
            newer = try Self.bytes(scratch)
            waiting = Set(open.values.joined())
        }

        /// Confirms some, and defers every third first, of which every other comes back.
        private static func end(_ uids: ArraySlice<UID>, _ lane: LaneID, _ journal: LMDBJournal) throws {
            for (index, uid) in uids.enumerated() where index % 3 == 0 {
                try journal.settle(uid, lane, SampleJournal.deferral(possiblySent: false))
            }
            _ = try journal.promote(lane, now: 1_800_000_000_000, limit: uids.count / 6)
            try journal.acknowledge(uids, lane)
        }

        private static func bytes(_ scratch: Scratch) throws -> [UInt8] {
            let path = scratch.journal + "/entries/data.mdb"
            let file = try #require(try HoldfastLMDB.DataFile.find(path).file)
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            return [UInt8](try #require(try handle.read(upToCount: (Int(file.lastPage) + 1) * file.pageByteCount)))
        }

        private func page(_ number: Int, of bytes: [UInt8]) -> ArraySlice<UInt8> {
            let start = number * pageByteCount
            return start + pageByteCount <= bytes.count ? bytes[start..<(start + pageByteCount)] : []
        }

        /// The pages that the newer file uses, and that an older one had otherwise.
        ///
        /// - Parameter table: nil for those of all, and the free list's.
        func pages(of table: String? = nil) throws -> [Int] {
            try Data(newer).write(to: URL(fileURLWithPath: file))
            let source = try #require(try HoldfastLMDB.DataFile.find(file).file)
            var used: Set<Int> = []
            let walk = FileWalk(source) { _ in
                true
            } fault: { fault in
                Issue.record("the journal is not sound: \(fault)")
            }
            for tree in walk.tables() where table == nil || tree.name == table {
                walk.walk(tree.record, name: tree.name) { _, _, place in used.insert(Int(place.page)) }
            }
            if table == nil { used = Set(2..<Int(source.lastPage + 1)) }
            return used.sorted().filter { number in
                let old = page(number, of: older)
                guard !old.isEmpty, old.contains(where: { $0 != 0 }), old != page(number, of: newer) else {
                    return false
                }
                return table == nil || Self.keyByteCount(old) == Self.keyByteCount(page(number, of: newer))
            }
        }

        /// Of the first row of a leaf; nil for another page. By it those are left out that liblmdb would not survive.
        private static func keyByteCount(_ page: ArraySlice<UInt8>) -> Int? {
            let bytes = Array(page)
            guard let leaf = try? TreePage(bytes, number: bytes.span.load(UInt64.self, at: 0)), leaf.isLeaf else {
                return nil
            }
            return leaf.nodes[0].key.count
        }

        /// Makes the file anew, with one page as it was.
        func lose(_ number: Int) throws {
            var bytes = newer
            bytes.replaceSubrange(number * pageByteCount..<(number + 1) * pageByteCount, with: page(number, of: older))
            try Data(bytes).write(to: URL(fileURLWithPath: file))
        }
    }

    /// What a journal hands out if everything is asked for until nothing comes any more, and confirmed.
    private func handedOut(_ journal: LMDBJournal) throws -> [UID] {
        var uids: [UID] = []
        for lane in try [immediate, considerate].map({ try journal.openLane($0).id }) {
            _ = try journal.promote(lane, now: .max, limit: 10_000)
            let found = try journal.uids(lane)
            try journal.acknowledge(found, lane)
            uids += found
        }
        return uids
    }

    @Test("Whichever page it is, the journal is refused, or hands out what waits, all of it and once")
    func every() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let life = try Life(scratch)
        let pages = try life.pages()
        #expect(pages.count > 20, "\(pages)")
        var refused = 0
        for page in pages {
            try life.lose(page)
            do {
                let journal = try LMDBJournal(directory: scratch.journal)
                defer { journal.close() }
                let found = try handedOut(journal)
                #expect(found.count == life.waiting.count && Set(found) == life.waiting, "page \(page)")
                #expect(try journal.status().unconfirmed == 0, "page \(page)")
            } catch let error as JournalError {
                refused += 1
                #expect(error.code == .damaged && error.message.contains("--salvage"), "page \(page): \(error.message)")
            }
        }
        #expect(refused > 10)
    }

    @Test("What an opening refuses, a reader of the journal at rest refuses in the same words")
    func reader() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let life = try Life(scratch)
        for page in try life.pages(of: "entries") {
            try life.lose(page)
            let read = #expect(throws: JournalError.self) { _ = try JournalReader(directory: scratch.journal) }
            let opened = #expect(throws: JournalError.self) { _ = try LMDBJournal(directory: scratch.journal) }
            #expect(read?.message == opened?.message, "page \(page)")
        }
    }

    @Test("A leaf whose rows all lie elsewhere is named with its page, and one with other rows than are counted too")
    func words() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let life = try Life(scratch)
        var words: Set<String> = []
        for page in try life.pages(of: "entries") {
            try life.lose(page)
            let error = #expect(throws: JournalError.self) { _ = try LMDBJournal(directory: scratch.journal) }
            let report = try JournalVerification.run(directory: scratch.journal)
            let message = error?.message ?? ""
            #expect(report.damage.contains { damage in message.contains(damage.what) }, "page \(page): \(message)")
            words.insert(message.contains("out of order") ? "order" : "count")
        }
        #expect(words.contains("order"))
    }

    @Test("Beyond what an opening looks at, a reading moves on whatever it meets, and ends")
    func reading() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let life = try Life(scratch)
        var options = LMDBJournal.Options()
        options.pagesCheckedAtOpening = 0
        for page in try life.pages(of: "entries") {
            try life.lose(page)
            let journal = try LMDBJournal(directory: scratch.journal, options: options)
            defer { journal.close() }
            for lane in try [immediate, considerate].map({ try journal.openLane($0).id }) {
                var last = UID.none
                while true {
                    let batch = try journal.unconfirmed(lane, after: last, through: .max, limit: 5)
                    for item in batch.items {
                        guard item.uid > last else {
                            Issue.record("page \(page): \(item.uid) comes behind \(last)")
                            return
                        }
                        last = item.uid
                    }
                    if batch.items.isEmpty { break }
                }
            }
        }
    }

    @Test("More entries taken out of a lane than it has are damage, which stops the journal and nothing else")
    func moreThanThereAre() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let sample = try SampleJournal(at: scratch.journal)
        try sample.changeLane(1) { lane in lane.entries -= 30 }
        try sample.changeLane(2) { lane in lane.entries += 30 }
        let refused = #expect(throws: JournalError.self) { _ = try LMDBJournal(directory: scratch.journal) }
        #expect(refused?.message.contains("lane 1, is damaged: its record says") == true, "\(refused?.message ?? "")")

        var options = LMDBJournal.Options()
        options.pagesCheckedAtOpening = 0
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let error = #expect(throws: JournalError.self) { try journal.acknowledge(try journal.uids(lane), lane) }
        #expect(error?.code == .damaged)
        let message = error?.message ?? ""
        #expect(
            message.contains("lane 1 has had more entries taken out") && message.contains("--salvage"), "\(message)")
        let later = #expect(throws: JournalError.self) { try journal.setNote("any", to: [1]) }
        #expect(later?.code == .mustBeReopened)
    }
}
