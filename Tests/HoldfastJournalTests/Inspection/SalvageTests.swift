import Foundation
import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

@Suite("Salvage")
struct SalvageTests {
    private struct Salvaged {
        let report: SalvageReport
        let entries: [JournalEntry]
        let blacklist: Int
        let status: JournalStatus

        func uids(_ kinds: Set<JournalEntry.StateKind> = [.possiblySent, .deferred]) -> [UID] {
            entries.filter { kinds.contains($0.state.kind) }.map(\.uid)
        }
    }

    private func salvage(_ scratch: Scratch, _ journal: SampleJournal) throws -> Salvaged {
        let before = try Data(contentsOf: URL(fileURLWithPath: journal.entries))
        let new = scratch.path + "/new-\(UUID().uuidString).journal"
        let report = try JournalSalvage.run(directory: journal.path, destination: new)
        #expect(try Data(contentsOf: URL(fileURLWithPath: journal.entries)) == before)
        #expect(try JournalVerification.run(directory: new).isSound)
        let reader = try JournalReader(directory: new)
        defer { reader.close() }
        let names = try FileManager.default.contentsOfDirectory(atPath: new).sorted()
        #expect(names == ["blacklist", "entries", "owner.lock"])
        return Salvaged(
            report: report, entries: try reader.entries(limit: 10_000),
            blacklist: try reader.blacklistEntries(limit: 10_000).count, status: try reader.status())
    }

    private func zero(_ path: String, page: UInt64) throws {
        try patch(path) { data in
            data.replaceSubrange(Int(page) * 4096..<Int(page + 1) * 4096, with: Data(count: 4096))
        }
    }

    /// The pages of a table's tree, root first.
    private func pages(_ path: String, _ name: String) throws -> [UInt64] {
        let file = try #require(try HoldfastLMDB.DataFile.find(path).file)
        let walk = FileWalk(file) { _ in
            true
        } fault: { _ in
        }
        let table = try #require(walk.tables().first { $0.name == name })
        var pages = [table.record.root]
        walk.walk(table.record, name: name) { _, _, place in if pages.last != place.page { pages.append(place.page) } }
        return pages
    }

    @Test("Of a sound journal everything comes over, all of it possibly sent")
    func sound() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try SampleJournal(at: scratch.journal)
        let salvaged = try salvage(scratch, journal)
        #expect(salvaged.report.restored == [:] && salvaged.report.dropped == [:] && salvaged.report.ended == 0)
        #expect(salvaged.status.unconfirmed == 74 && salvaged.status.possiblySent == 74)
        #expect(salvaged.uids([.rejected]).count == 2 && salvaged.blacklist == 40)
        #expect(salvaged.status.nextUID.rawValue == 83 + 1 << 32)
        let same: Set<String> = ["facts", "lanes", "producers", "deferred"]
        #expect(
            try SampleJournal.rows(salvaged.report.directory, without: same)
                == SampleJournal.rows(journal.path, without: same))
    }

    @Test(
        "What a lost page held is found in older copies of it; what has ended meanwhile, and says so, is not sent again"
    )
    func lostPage() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try SampleJournal(at: scratch.journal, count: 400)
        let before = try salvage(scratch, journal).uids()
        // The very tree of entries is gone, root and all. Its pages as they were before the settlements are still there.
        let pages = try pages(journal.entries, "entries")
        for page in pages.prefix(3) { try zero(journal.entries, page: page) }
        let salvaged = try salvage(scratch, journal)
        #expect(salvaged.report.restored["entries"] ?? 0 > 100)
        #expect(salvaged.report.ended > 0)
        // The outcomes and rejections name what has ended, so none of it came back.
        #expect(Set(salvaged.uids()).isSubset(of: before))
        #expect(salvaged.uids().count > before.count / 2)
    }

    @Test("Where the tree is sound and does not have an entry, an older copy of it counts for nothing")
    func settled() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let path = scratch.journal
        do {
            let journal = try LMDBJournal(directory: path)
            defer { journal.close() }
            let lane = try journal.openLane(immediate).id
            try journal.append(0..<300, to: lane)
            // No outcomes are kept: nothing but the tree says that these have ended.
            try journal.acknowledge(uids(1...100), lane)
        }
        let journal = try SampleJournal(existing: path)
        let pages = try pages(journal.entries, "entries")
        try zero(journal.entries, page: try #require(pages.last))
        let salvaged = try salvage(scratch, journal)
        #expect(salvaged.uids().allSatisfy { $0 > UID(100) })
        // Of the last page, which was written once, there may be no older copy.
        #expect((190...200).contains(salvaged.uids().count))
    }

    @Test("Of several copies of an entry the one with most attempts is taken")
    func attempts() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let path = scratch.journal
        do {
            let journal = try LMDBJournal(directory: path)
            defer { journal.close() }
            let lane = try journal.openLane(immediate).id
            try journal.append(0..<5, to: lane)
            for attempt in 1...6 as ClosedRange<UInt16> {
                try journal.settle(UID(3), lane, SampleJournal.deferral(possiblySent: false, attempts: attempt))
                _ = try journal.promote(lane, now: .max)
            }
        }
        let journal = try SampleJournal(existing: path)
        try zero(journal.entries, page: try #require(try pages(journal.entries, "entries").last))
        let salvaged = try salvage(scratch, journal)
        let entry = try #require(salvaged.entries.first { $0.uid == UID(3) })
        #expect(entry.attempts >= 5 && entry.state == .possiblySent)
    }

    @Test("Entries of one token for several topics come over from a file without meta pages, each with all it says")
    func scopedBlacklist() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try SampleJournal(at: scratch.journal)
        let topics = ["com.example.app", "com.example.app.voip", "com.example.other"]
        let scoped = topics.map { topic in
            var entry = SampleJournal.bad(3)
            (entry.topic, entry.endpoint, entry.status, entry.answered) = (topic, "service", 410, UID(9))
            return entry
        }
        let before: [BlacklistEntry]
        do {
            let opened = try LMDBJournal(directory: journal.path)
            defer { opened.close() }
            try opened.blacklist.add(scoped)
            before = try opened.blacklist.entries(for: scoped[0].recipient)
        }
        #expect(before.map(\.topic) == [nil] + topics)
        #expect(try journal.verify().damage.isEmpty)
        for page in [0, 1] as [UInt64] { try zero(journal.blacklist, page: page) }
        let destination = scratch.path + "/scoped.journal"
        _ = try JournalSalvage.run(directory: journal.path, destination: destination)
        let reader = try JournalReader(directory: destination)
        defer { reader.close() }
        let found = try reader.blacklistEntries(for: scoped[0].recipient)
        // The entry of the older version lies behind the key in a page of long ago.
        #expect(found.filter { $0.topic != nil } == before.filter { $0.topic != nil })
        #expect(found.contains { $0.topic == nil })
    }

    /// A journal with nothing in it but what is for addresses of other services: waiting, rejected, outcomes, blacklisted.
    private func serviceJournal(at path: String) throws -> SampleJournal {
        let addresses = try (0..<10).map { number in
            try ServiceAddress(number.isMultiple(of: 2) ? .webPush : .firebaseToken, "https://push.example/\(number)")
        }
        do {
            let journal = try LMDBJournal(directory: path)
            defer { journal.close() }
            let lane = try journal.openLane(immediate).id
            var submission = Submission(producer: try journal.openProducer("default"), acceptedAt: acceptance)
            for address in addresses {
                submission.add(
                    PushNotification(
                        address: address, topic: "project", payload: [0xFF], payloadKind: .sealed, tag: [1]), lane)
            }
            _ = try journal.append(submission)
            let reason = RejectionCause(reason: Reason(rawValue: "UNREGISTERED"), status: 404, rejectedAt: acceptance)
            var batch = SettlementBatch(
                acknowledging: [EntryKey(lane: lane, uid: UID(1))], keepsOutcomes: true)
            batch.others = [
                Settlement(EntryKey(lane: lane, uid: UID(2)), .reject(reason)),
                Settlement(EntryKey(lane: lane, uid: UID(3)), SampleJournal.deferral(possiblySent: true)),
            ]
            try journal.settle(batch)
            try journal.blacklist.add(
                addresses.map { address in
                    BlacklistEntry(
                        recipient: .service(address), reason: Reason(rawValue: "UNREGISTERED"), since: acceptance,
                        learntAt: acceptance, route: "default", topic: "project", endpoint: "service", status: 404,
                        expiresAt: WallTime(milliseconds: 1_800_000_000_000))
                })
        }
        return try SampleJournal(existing: path)
    }

    @Test("What is for other services is verified, and comes over from a sound file and from one without meta pages")
    func services() throws {
        for isDamaged in [false, true] {
            let scratch = Scratch()
            defer { scratch.remove() }
            let journal = try serviceJournal(at: scratch.journal)
            #expect(try journal.verify().isSound)
            let before = try contents(journal.path)
            #expect(before.entries.count == 9 && before.blacklist.count == 10)
            if isDamaged {
                for file in [journal.entries, journal.blacklist] {
                    for page in [0, 1] as [UInt64] { try zero(file, page: page) }
                }
            }
            let salvaged = try salvage(scratch, journal)
            let after = try contents(salvaged.report.directory)
            #expect(after.entries == before.entries && after.blacklist == before.blacklist)
            #expect(salvaged.blacklist == 10)
        }
    }

    private func contents(
        _ path: String
    ) throws -> (entries: [UID: PushNotification?], blacklist: [Recipient: [BlacklistEntry]]) {
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        let entries = try reader.entries(limit: 100).map { ($0.uid, $0.notification) }
        return (
            Dictionary(entries) { first, _ in first },
            Dictionary(grouping: try reader.blacklistEntries(limit: 100), by: \.recipient)
        )
    }

    @Test("A bit that is flipped in an entry of the blacklist for another service is found by verifying")
    func flippedAddress() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try serviceJournal(at: scratch.journal)
        try patch(journal.blacklist) { data in
            // In each copy of it.
            let text = Data("https://push.example/7".utf8)
            var start = data.startIndex
            while let found = data.range(of: text, in: start..<data.endIndex) {
                data[found.lowerBound] ^= 1
                start = found.upperBound
            }
        }
        #expect(try !journal.verify().isSound)
    }

    @Test("Without meta pages all that is anywhere in the file comes over, the blacklist too")
    func noMetas() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try SampleJournal(at: scratch.journal)
        for file in [journal.entries, journal.blacklist] {
            for page in [0, 1] as [UInt64] { try zero(file, page: page) }
        }
        let salvaged = try salvage(scratch, journal)
        #expect(salvaged.uids().count == 74)
        #expect(salvaged.uids([.rejected]).count == 2)
        #expect(salvaged.blacklist == 40)
        #expect(salvaged.status.possiblySent == 74)
        #expect(salvaged.status.lanes.map(\.key) == [immediate, considerate])
        // An identity is of use only with the journal's secret, which was found.
        #expect(salvaged.status.identities > 0)
        #expect(salvaged.status.nextUID.rawValue >= 83 + 1 << 32)
    }

    @Test("Entries whose lane's record is lost are put into a lane that tells")
    func lostLane() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try SampleJournal(at: scratch.journal)
        let file = try Data(contentsOf: URL(fileURLWithPath: journal.entries))
        // Every copy of every record of a lane.
        try patch(journal.entries) { data in
            var start = 0
            while let range = file.range(of: Data("HFln".utf8), in: start..<file.count) {
                data[range.lowerBound] = 0
                start = range.upperBound
            }
        }
        let salvaged = try salvage(scratch, journal)
        #expect(salvaged.uids().count == 74)
        #expect(salvaged.status.lanes.map(\.key.route) == ["salvaged"])
        #expect(salvaged.uids([.rejected]).count == 2)
    }

    @Test("Nothing is written over")
    func refused() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try SampleJournal(at: scratch.journal)
        let error = #expect(throws: JournalError.self) {
            try JournalSalvage.run(directory: journal.path, destination: journal.path)
        }
        #expect(error?.code == .alreadyExists)
    }
}

extension SampleJournal {
    /// One that was made otherwise.
    init(existing path: String) throws { self.path = path }
}
