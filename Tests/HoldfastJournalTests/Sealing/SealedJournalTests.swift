import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import HoldfastTesting
import TestCopies
import Testing

@testable import HoldfastJournal

/// What tests of sealed journals have in common.
enum Sealing {
    static func keys(_ first: UInt8...) throws -> JournalKeys {
        JournalKeys(try first.map { try SealKey([UInt8](repeating: $0, count: 32)) })
    }

    static func options(_ keys: JournalKeys?) -> JournalOptions {
        var options = JournalOptions()
        options.keys = keys
        return options
    }

    static func open(_ path: String, _ keys: JournalKeys?) throws -> LMDBJournal {
        try LMDBJournal(directory: path, options: options(keys))
    }

    static func error(_ body: () throws -> Void) -> JournalError? {
        do {
            try body()
            return nil
        } catch {
            return error as? JournalError
        }
    }

    /// Everything in the files of a journal.
    static func files(_ path: String) throws -> [Data] {
        try ["entries", "blacklist"].map { try Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)/data.mdb")) }
    }

    /// Bytes that nobody may find in a sealed journal: tokens, payloads, tags, contexts, topics and notes of ``fill(_:)``.
    static let secrets: [[UInt8]] =
        [
            Array("\"pad\":\"xxx".utf8), Array("tag-of-campaign".utf8), Array("a context".utf8),
            Array("com.example.app".utf8), Array("secret note".utf8), Array("paused because".utf8),
            Array("https://push.example".utf8),
        ] + (0..<4).map { Array(sample($0).token!.bytes) }

    static func clear(_ path: String) throws -> [String] {
        let files = try files(path)
        return secrets.filter { secret in files.contains { $0.range(of: Data(secret)) != nil } }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Something in every table that has more than figures, and something that was deleted from each.
    static func fill(_ journal: LMDBJournal) throws {
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        var submission = Submission(producer: producer, acceptedAt: acceptance, earliestTime: acceptance)
        for number in 0..<30 {
            var notification = sample(number % 4, payloadByteCount: number == 29 ? 3500 : 300)
            notification.tag = Array("tag-of-campaign".utf8)
            notification.context = Array("a context".utf8)
            submission.add(notification, lane)
        }
        submission.identities = (0..<10).map { ($0, Identity(high: 3, low: UInt64($0))) }
        submission.note = ("progress", Array("secret note".utf8))
        let first = try journal.append(submission).first.rawValue
        func key(_ offset: UInt64) -> EntryKey { EntryKey(lane: lane, uid: UID(first + offset)) }
        var batch = SettlementBatch(acknowledging: (0..<8).map { key($0) }, keepsOutcomes: true)
        batch.keepsPayloads = true
        batch.others = [
            Settlement(key(8), .reject(rejection)), Settlement(key(9), .expire),
            Settlement(key(10), SampleJournal.deferral(possiblySent: false)),
            Settlement(key(11), SampleJournal.deferral(possiblySent: true)), Settlement(key(12), .reject(rejection)),
        ]
        try journal.settle(batch)
        _ = try journal.removeRejections([key(12).uid])
        try journal.settle(SettlementBatch(quieted: [key(13), key(14)]))
        try journal.blacklist.add((0..<4).map { SampleJournal.bad($0) })
        let address = try ServiceAddress(.webPush, "https://push.example/1")
        try journal.blacklist.add([
            BlacklistEntry(
                recipient: .service(address), reason: .unregistered, since: acceptance, learntAt: acceptance,
                route: "default")
        ])
        _ = try journal.blacklist.remove([.device(sample(3).token!)])
        try journal.setNote("other", to: Array("secret note".utf8))
        try journal.setNote("other", to: nil)
    }

    /// What can be read of a journal, for comparing.
    static func contents(_ journal: LMDBJournal) throws -> [String] {
        let lane = try journal.openLane(immediate).id
        var lines = try journal.all(lane).map { "\($0.uid) \($0.attempts) \($0.notification)" }
        lines += try journal.rejections(after: .none, limit: 100).map { "\($0)" }
        lines += try journal.allOutcomes().map { "\($0)" }
        lines += try journal.blacklist.list(after: nil, limit: 100).map { "\($0)" }.sorted()
        lines += ["\(try journal.note("progress") ?? [])"]
        return lines
    }
}

@Suite("A sealed journal", .timeLimit(.minutes(5))) struct SealedJournalTests {
    private struct NotOurs: Error {}

    /// Those that look at lists in the order of the tokens' bytes, which a file that hides the tokens does not have.
    private static let ordering = [
        "A registration lifts an entry that is older, and no other",
        "A token has one entry for each topic and endpoint, and they come together",
        "Each addition to the blacklist has the next number, which is never given again",
        "The blacklist is listed in the order of the tokens' bytes, page by page",
        "The blacklist lists addresses behind all tokens, page by page, each once",
    ]

    @Test(
        "It keeps the rules of a journal",
        arguments: JournalConformance.rules.filter { !ordering.contains("\($0)") })
    func keeps(rule: JournalConformance.Rule) async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var chosen = Sealing.options(try Sealing.keys(1))
        chosen.durability = .process
        let options = chosen
        let conformance = JournalConformance(
            make: { try LMDBJournal(directory: scratch.journal, options: options) },
            reopen: { journal in
                guard let journal = journal as? LMDBJournal else { throw NotOurs() }
                journal.close()
                return try LMDBJournal(directory: journal.directory, options: options)
            })
        try await conformance.check(rule)
        #expect(try JournalVerification.run(directory: scratch.journal, keys: options.keys).damage.map(\.what) == [])
    }

    @Test("Its blacklist is listed page by page, in an order of its own, each recipient once")
    func pages() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try Sealing.open(scratch.journal, try Sealing.keys(1))
        defer { journal.close() }
        #expect(JournalConformance.rules.count { Self.ordering.contains("\($0)") } == 5)
        try journal.blacklist.add((0..<50).map { SampleJournal.bad($0) })
        var found: [Recipient] = []
        while true {
            let page = try journal.blacklist.list(after: found.last, limit: 7)
            found += page.map(\.recipient)
            if page.count < 7 { break }
        }
        #expect(found.count == 50 && Set(found) == Set((0..<50).map { SampleJournal.bad($0).recipient }))
        #expect(try journal.blacklist.list(after: nil, limit: 100).map(\.number).sorted() == Array(1...50))
    }

    @Test("Nothing of a payload, a token, a tag, a topic or a note is in its files, also of what was deleted")
    func nothingClear() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let keys = try Sealing.keys(1)
        let plain = scratch.path + "/plain.journal"
        for (path, keys) in [(plain, nil), (scratch.journal, keys)] {
            let journal = try Sealing.open(path, keys)
            defer { journal.close() }
            try Sealing.fill(journal)
        }
        // The search finds each of them where it is.
        #expect(try Sealing.clear(plain).count >= Sealing.secrets.count - 1)
        #expect(try Sealing.clear(scratch.journal) == [])
        let (first, second) = (try Sealing.open(plain, nil), try Sealing.open(scratch.journal, keys))
        defer { for journal in [first, second] { journal.close() } }
        #expect(try Sealing.contents(first) == Sealing.contents(second))
        #expect(first.sealedWith == [] && second.sealedWith == keys.ids)
    }

    @Test("Without its key it is left as it is, byte for byte, and the key is named", arguments: [false, true])
    func wrongKey(hasOther: Bool) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (keys, other) = (try Sealing.keys(1), hasOther ? try Sealing.keys(2) : nil)
        try SampleJournal(at: scratch.journal, keys: keys)
        let before = try Sealing.files(scratch.journal)
        let (path, new) = (scratch.journal, scratch.path + "/new.journal")
        let attempts: [(String, () throws -> Void)] = [
            ("open", { try Sealing.open(path, other).close() }),
            ("read", { try JournalReader(directory: path, keys: other).close() }),
            ("verify", { _ = try JournalVerification.run(directory: path, keys: other) }),
            ("back up", { _ = try JournalBackup.run(directory: path, destination: new, keys: other) }),
            ("compact", { _ = try JournalCompaction.run(directory: path, keys: other) }),
            ("unseal", { _ = try JournalCompaction.run(directory: path, keys: other, unseals: true) }),
            ("salvage", { _ = try JournalSalvage.run(directory: path, destination: new, keys: other) }),
        ]
        for (what, attempt) in attempts {
            let found = Sealing.error(attempt)
            #expect(found?.code == .wrongKey, "\(what)")
            #expect(found?.message.contains("sealed with key \(keys.ids[0])") == true, "\(what)")
            if let other { #expect(found?.message.contains(other.ids[0]) == true, "\(what)") }
            #expect(try Sealing.files(path) == before, "\(what)")
            #expect(!FileManager.default.fileExists(atPath: new), "\(what)")
        }
        // With its key all is as it was.
        #expect(try JournalVerification.run(directory: path, keys: keys).isSound)
    }

    @Test("A new key seals what comes while it runs, and the old one opens what is there")
    func rotation() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (old, both, new) = (try Sealing.keys(1), try Sealing.keys(2, 1), try Sealing.keys(2))
        do {
            let journal = try Sealing.open(scratch.journal, old)
            defer { journal.close() }
            let lane = try journal.openLane(immediate).id
            try journal.append(0..<5, to: lane)
            try journal.blacklist.add([SampleJournal.bad(1)])
            // Without the old one nothing could be read.
            #expect(Sealing.error { try journal.useKeys(new) }?.code == .wrongKey)
            #expect(journal.sealedWith == old.ids)
            try journal.useKeys(both)
            #expect(journal.sealedWith == both.ids)
            try journal.append(5..<10, to: lane)
            try journal.blacklist.add([SampleJournal.bad(2)])
            #expect(try journal.all(lane).count == 10)
            try journal.acknowledge(uids(1...2), lane)
            #expect(try journal.blacklist.list(after: nil, limit: 10).count == 2)
        }
        let report = try JournalVerification.run(directory: scratch.journal, keys: both)
        #expect(report.isSound && Set(report.sealed.keys) == Set(both.ids))
        for keys in [old, new] {
            let missing = keys.ids == old.ids ? new.ids[0] : old.ids[0]
            let found = Sealing.error { try Sealing.open(scratch.journal, keys).close() }
            #expect(found?.message.contains("sealed with key \(missing)") == true)
        }
        let compacted = try JournalCompaction.run(directory: scratch.journal, keys: both)
        #expect(Set(compacted.sealed.keys) == Set(new.ids))
        let journal = try Sealing.open(scratch.journal, new)
        defer { journal.close() }
        #expect(try journal.uids(try journal.openLane(immediate).id).count == 8)
        #expect(try journal.blacklist.entries(for: SampleJournal.bad(1).recipient).count == 1)
        #expect(journal.sealedWith == new.ids)
    }

    @Test("A compaction seals a journal, and unseals it")
    func compaction() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (path, keys) = (scratch.journal, try Sealing.keys(1))
        do {
            let journal = try Sealing.open(path, nil)
            defer { journal.close() }
            try Sealing.fill(journal)
        }
        #expect(Sealing.error { try Sealing.open(path, keys).close() }?.code == .wrongKey)
        // It can be read all the same: nothing is changed by that.
        try JournalReader(directory: path, keys: keys).close()
        let rows = try SampleJournal.rows(path, without: ["facts"])
        _ = try JournalCompaction.run(directory: path, keys: keys)
        #expect(try Sealing.clear(path) == [])
        let sealed = try JournalVerification.run(directory: path, keys: keys)
        #expect(sealed.damage.map(\.what) == [] && Set(sealed.sealed.keys) == Set(keys.ids))
        #expect(Sealing.error { try Sealing.open(path, nil).close() }?.code == .wrongKey)
        try Sealing.open(path, keys).close()
        _ = try JournalCompaction.run(directory: path, keys: keys, unseals: true)
        #expect(try SampleJournal.rows(path, without: ["facts"]) == rows)
        #expect(
            try SampleJournal(existing: path).rows("facts").first { $0.key == EntriesStore.formatKey }?.value == [
                3, 0, 0, 0,
            ])
        let plain = try JournalVerification.run(directory: path)
        #expect(plain.isSound && plain.sealed.isEmpty)
        let journal = try Sealing.open(path, nil)
        defer { journal.close() }
        #expect(try journal.blacklist.entries(for: SampleJournal.bad(1).recipient).count == 1)
    }

    @Test("A compaction that ends between the two files leaves a journal that says so, until the next has ended")
    func half() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (path, keys) = (scratch.journal, try Sealing.keys(1))
        do {
            let journal = try Sealing.open(path, nil)
            defer { journal.close() }
            try Sealing.fill(journal)
        }
        for unseals in [false, true] {
            let blacklist = path + "/blacklist/data.mdb"
            let before = try Data(contentsOf: URL(fileURLWithPath: blacklist))
            #expect(try sealing(path, keys) == (unseals ? .sealed : .clear))
            _ = try JournalCompaction.run(directory: path, keys: keys, unseals: unseals)
            let after = try Data(contentsOf: URL(fileURLWithPath: blacklist))
            // As a kill leaves it after the first of two renames.
            try before.write(to: URL(fileURLWithPath: blacklist))
            let sealed = unseals ? "blacklist/data.mdb" : "entries/data.mdb"
            #expect(try sealing(path, keys) == .half(sealed: sealed))
            let refused = Sealing.error { try Sealing.open(path, keys).close() }
            #expect(refused?.code == .wrongKey, "\(String(describing: refused))")
            #expect(
                refused?.message.contains("\(sealed) is sealed") == true && refused?.message.contains("compact") == true
            )
            // Its copy would be in the clear by half, and nobody be told.
            let copy = scratch.journal + ".copy"
            let kept = Sealing.error { _ = try JournalBackup.run(directory: path, destination: copy, keys: keys) }
            #expect(kept?.code == .wrongKey && kept?.message == refused?.message, "\(String(describing: kept))")
            #expect(!FileManager.default.fileExists(atPath: copy))
            if !unseals { #expect(try !Sealing.clear(path).isEmpty) }
            _ = try JournalCompaction.run(directory: path, keys: keys, unseals: unseals)
            #expect(try sealing(path, keys) == (unseals ? .clear : .sealed))
            #expect(try Data(contentsOf: URL(fileURLWithPath: blacklist)).count == after.count)
        }
    }

    /// As a reader and a verification say it, which agree.
    private func sealing(_ path: String, _ keys: JournalKeys) throws -> JournalSealing {
        let reader = try JournalReader(directory: path, keys: keys)
        defer { reader.close() }
        let report = try JournalVerification.run(directory: path, keys: keys)
        #expect(report.sealing == reader.sealing && report.isSound)
        return reader.sealing
    }

    @Test("Rows that were exchanged, or changed, are damage; all others go on")
    func exchanged() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (path, keys) = (scratch.journal, try Sealing.keys(1))
        do {
            let journal = try Sealing.open(path, keys)
            defer { journal.close() }
            try journal.append(0..<6, to: try journal.openLane(immediate).id)
            try journal.blacklist.add((0..<3).map { SampleJournal.bad($0) })
        }
        let sample = try SampleJournal(existing: path)
        let rows = try sample.rows("entries")
        try sample.put("entries", rows[0].key, rows[1].value)
        try sample.put("entries", rows[1].key, rows[0].value)
        var changed = rows[2].value
        changed[changed.count - 20] ^= 1
        var span = changed.mutableSpan
        span.store(XXH64.hash(span.span, from: 8), at: 0)
        try sample.put("entries", rows[2].key, changed)
        // Sound in itself, and not sealed: whoever has no key could have written it.
        let plain = scratch.path + "/plain.journal"
        do {
            let journal = try Sealing.open(plain, nil)
            defer { journal.close() }
            try journal.append(0..<6, to: try journal.openLane(immediate).id)
        }
        try sample.put("entries", rows[3].key, try SampleJournal(existing: plain).rows("entries")[3].value)
        let tokens = try sample.rows("tokens", in: "blacklist")
        try sample.put("tokens", tokens[0].key, tokens[1].value, in: "blacklist")
        let report = try JournalVerification.run(directory: path, keys: keys)
        #expect(report.damage.filter { $0.table == "entries" }.compactMap(\.uid) == uids(1...4))
        #expect(report.damage.count { $0.table == "tokens" } == 1)
        let journal = try Sealing.open(path, keys)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 100)
        #expect(batch.items.map(\.uid) == uids(5...6))
        #expect(batch.unreadable.map(\.uid) == uids(1...4))
        #expect(try journal.blacklist.list(after: nil, limit: 10).count == 2)
    }

    @Test("A backup is sealed as the journal is, and no nonce of it comes again in either")
    func backup() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (path, copy, keys) = (scratch.journal, scratch.path + "/copy.journal", try Sealing.keys(1))
        try SampleJournal(at: path, keys: keys)
        let report = try JournalBackup.run(directory: path, destination: copy, keys: keys)
        #expect(Set(report.sealed.keys) == Set(keys.ids))
        #expect(try Sealing.clear(copy) == [])
        for directory in [path, copy] {
            let journal = try Sealing.open(directory, keys)
            defer { journal.close() }
            try journal.append(100..<110, to: try journal.openLane(immediate).id)
        }
        // The same nonce is the same row.
        var rows: [[UInt8]: [UInt8]] = [:]
        for directory in [path, copy] {
            for table in try SampleJournal.rows(directory).values {
                for value in table.values where SealedRow.begins(value.span) {
                    let nonce = Array(value[24..<52])
                    if let known = rows[nonce] { #expect(known == value) }
                    rows[nonce] = value
                }
            }
        }
        #expect(rows.count > 100)
    }

    @Test("Salvage finds sealed rows wherever they lie, and the new journal is sealed as well")
    func salvage() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (path, new, keys) = (scratch.journal, scratch.path + "/new.journal", try Sealing.keys(1))
        let sample = try SampleJournal(at: path, keys: keys)
        let before: [UID]
        do {
            let reader = try JournalReader(directory: path, keys: keys)
            defer { reader.close() }
            before = try reader.entries(limit: 1000).map(\.uid)
        }
        // Nothing says any more where anything is, nor that it is sealed.
        for file in [sample.entries, sample.blacklist] {
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
            try handle.write(contentsOf: Data(count: 8192))
            try handle.close()
        }
        let refused = Sealing.error { _ = try JournalSalvage.run(directory: path, destination: new) }
        #expect(refused?.code == .wrongKey && refused?.message.contains(keys.ids[0]) == true)
        let report = try JournalSalvage.run(directory: path, destination: new, keys: keys)
        #expect(report.restored["tokens"] == 40)
        #expect(try Sealing.clear(new) == [])
        let reader = try JournalReader(directory: new, keys: keys)
        defer { reader.close() }
        // What has ended is restored as well where its end is out of reach.
        #expect(try Set(reader.entries(limit: 1000).map(\.uid)).isSuperset(of: before))
        #expect(try reader.blacklistEntries(for: SampleJournal.bad(7).recipient).count == 1)
        #expect(reader.sealedWith == keys.ids)
    }

    @Test(
        "One that lacks the list of its keys is refused, and not taken for one that is not sealed",
        arguments: [false, true])
    func lostList(hasKeys: Bool) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let keys = try Sealing.keys(1)
        for part in ["entries", "blacklist"] {
            let path = "\(scratch.path)/\(part).journal"
            let sample = try SampleJournal(at: path, keys: keys)
            let entries = try Self.entryCount(path, keys)
            try sample.put("facts", SealingRecord.key, nil, in: part)
            let before = try Sealing.files(path)
            let code = Sealing.error { try Sealing.open(path, hasKeys ? keys : nil).close() }?.code
            #expect(code == .damaged || !hasKeys && code == .wrongKey)
            #expect(try Sealing.files(path) == before)
            _ = try JournalSalvage.run(directory: path, destination: path + ".new", keys: keys)
            #expect(try Self.entryCount(path + ".new", keys) == entries)
        }
    }

    private static func entryCount(_ path: String, _ keys: JournalKeys) throws -> Int {
        let reader = try JournalReader(directory: path, keys: keys)
        defer { reader.close() }
        return try reader.entries(limit: 1000).count
    }

    @Test("What a gate keeps of its commits is sealed, too, and makes a journal that its key opens")
    func gate() throws {
        let (scratch, gate, keys) = (Scratch(), KeptEffects(), try Sealing.keys(1))
        defer { scratch.remove() }
        var options = Sealing.options(keys)
        options.gate = gate
        do {
            let journal = try LMDBJournal(directory: scratch.journal, options: options)
            defer { journal.close() }
            try Sealing.fill(journal)
        }
        let effects = gate.kept
        #expect(!effects.isEmpty)
        for secret in Sealing.secrets {
            #expect(
                !effects.contains { Data($0).range(of: Data(secret)) != nil },
                "\(String(decoding: secret, as: UTF8.self))")
        }
    }
}
