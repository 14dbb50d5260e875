import Foundation
import Holdfast
import HoldfastLMDB

/// The salvage of `entries/`.
///
/// First the lanes, Producers and facts, without which nothing else can be put anywhere; then what says that entries have
/// ended; then the entries; then, if anything was out of reach, what can be found in the whole file; and at the end the
/// figures, from what is there.
final class EntriesSalvage: PartSalvage {
    let scratch: StagingStore
    private let scratchPath: String
    var figures = SalvagedFigures()
    var greatestUID: UInt64 = 0
    /// UIDs that have an outcome in the log.
    var ended = UIDSet()
    var outcomeLog = SalvagedLog()

    private static let endedTables = ["rejections", "outcomes", "identities"]
    private static let entryTables = ["entries", "deferred", "deferredIndex"]
    /// Entries found outside of the trees, which are judged at the end; entries that have ended by what was found there;
    /// and the lane of each entry that was put into the new journal.
    private static let scratchTables = ["candidates", "ended", "unconfirmed", "aside"]

    init(
        _ opened: JournalImage.Opened, _ keys: JournalKeys?, _ place: JournalDirectory, _ report: SalvageReport,
        _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) {
        scratchPath = place.path + "/scratch"
        var seals: ScratchSeals?
        if let keys, opened.seal != nil { seals = try ScratchSeals(keys) }
        scratch = try StagingStore(
            scratchPath, tables: Self.scratchTables,
            mapByteCount: 4 * (opened.finding.file?.byteCount ?? 0) + (4 << 30), seals: seals)
        try super.init(opened, keys, place, tables: EntriesStore.Tables.everyName, report, progress)
    }

    override func close() {
        super.close()
        scratch.close()
    }

    func run() throws(JournalError) {
        remarkStrangeTables()
        try collectFigures()
        try walk(Self.endedTables + ["notes"]) { (table, key, value) throws(JournalError) in
            try self.take(table, key, value)
        }
        try collectOutcomes()
        try collectAside()
        try walk(["quarantine"]) { (table, key, value) throws(JournalError) in
            try self.take(table, key, value)
        }
        try walk(Self.entryTables) { (table, key, value) throws(JournalError) in try self.take(table, key, value) }
        if !holes.isEmpty {
            let magics = [
                EntryRecord.magic, RejectionRecord.magic, OutcomeRecord.magic, IdentityRecord.magic,
                OutcomeBlock.magic,
            ]
            try carve(for: magics) { (find) throws(JournalError) in try self.take(find) }
            try judgeCandidates()
        }
        try reconcileIdentities()
        try finishOutcomes()
        try writeFigures()
        try target.finish()
        scratch.close()
        do {
            try FileManager.default.removeItem(atPath: scratchPath)
        } catch {
            throw JournalError(.inputOutput, "cannot remove \(scratchPath): \(error)")
        }
    }

    // MARK: Lanes, Producers, facts

    private func collectFigures() throws(JournalError) {
        try walk(["facts", "lanes", "producers"]) { (table, key, value) throws(JournalError) in
            if key == OutcomeTables.boundsKey { return self.outcomeLog.take(value) }
            if !self.figures.take(table, key, value) {
                self.drop(table)
                self.holes.add(table, .only(key))
            }
        }
        if holes.has("facts") || holes.has("lanes") || holes.has("producers") {
            try carve(for: [LaneRecord.magic, ProducerRecord.magic, FactsRecord.magic]) { find in
                self.figures.take(find)
            }
        }
        report.remarks += figures.complete()
    }

    // MARK: Rows of sound pages

    private func take(_ table: String, _ key: [UInt8], _ value: [UInt8]) throws(JournalError) {
        do throws(EntryRecord.Fault) {
            try check(table, key, value)
        } catch {
            drop(table)
            return holes.add(
                table == "deferred" ? "entries" : table, .only(table == "deferred" ? Self.place(key) : key))
        }
        switch table {
        case "entries": try place(value, due: nil)
        case "deferred": try place(value, due: Int64(bitPattern: key.span.bigEndian64(at: 4)) ^ .min)
        case "deferredIndex": try followIndex(key, value)
        case "notes": try keep(table, key, value)
        case "quarantine": try keepQuarantined(key, value)
        default:
            greatestUID = max(greatestUID, key.span.bigEndian64(at: 0))
            try keep(table, key, table == "rejections" ? figures.fitted(rejection: value) : value)
        }
    }

    /// Keeps a quarantined row as it is, as possibly sent.
    private func keepQuarantined(_ key: [UInt8], _ value: [UInt8]) throws(JournalError) {
        var row: QuarantineRecord
        do throws(EntryRecord.Fault) { row = try QuarantineRecord(value) } catch { return }
        guard try !hasEnded(key) else {
            report.ended += 1
            return
        }
        row.isPossiblySent = true
        figures.countQuarantined(of: row.producer)
        greatestUID = max(greatestUID, row.uid)
        try scratch.put("unconfirmed", key, [])
        try keep("quarantine", key, row.bytes)
    }

    /// The key in `entries` of a row of `deferred`.
    private static func place(_ key: [UInt8]) -> [UInt8] {
        key.count == 20 ? Array(key[..<4] + key[12...]) : key
    }

    private func check(_ table: String, _ key: [UInt8], _ value: [UInt8]) throws(EntryRecord.Fault) {
        let span = key.span
        let uid = key.count == 8 ? span.bigEndian64(at: 0) : 0
        switch (table, key.count) {
        case ("entries", 12):
            let record = try EntryRecord.read(
                value.span, lane: span.bigEndian32(at: 0), uid: span.bigEndian64(at: 4)
            ).get()
            _ = try record.fields(in: value)
        case ("deferred", 20):
            let record = try EntryRecord.read(
                value.span, lane: span.bigEndian32(at: 0), uid: span.bigEndian64(at: 12)
            ).get()
            _ = try record.fields(in: value)
        case ("deferredIndex", 12) where value.count == 8: break
        case ("rejections", 8): _ = try Rejection(value, uid: uid, producers: [], lanes: [])
        case ("outcomes", 8): _ = try OutcomeRecord.read(value, uid: uid, producers: [])
        case ("identities", 8) where figures.hasFacts && IdentityRecord(value.span, uid: uid) != nil: break
        case ("quarantine", 8): _ = try QuarantineRecord(value, uid: uid)
        case ("notes", _): _ = try NoteRecord.value(value, name: key)
        default: throw .damaged("it is no row of this table")
        }
    }

    /// An entry that the index knows to be deferred, but whose row is out of reach, is unconfirmed.
    private func followIndex(_ key: [UInt8], _ value: [UInt8]) throws(JournalError) {
        guard holes.has("deferred") else { return }
        let uid = Array(key[4...])
        if try !scratch.has("unconfirmed", uid) { holes.add("entries", .only(key)) }
    }

    /// Puts an unconfirmed entry from a sound page into the new journal, unless it is known to have ended.
    private func place(_ record: [UInt8], due: Int64?) throws(JournalError) {
        let uid = Key.uid(EntryRecord.uncheckedHead(record.span).uid).span.array
        guard try !scratch.has("unconfirmed", uid), try !hasEnded(uid) else {
            report.ended += 1
            return
        }
        report.kept[due == nil ? "entries" : "deferred", default: 0] += 1
        try put(record, due: due)
    }

    private func hasEnded(_ uid: [UInt8]) throws(JournalError) -> Bool {
        if try target.has("rejections", uid) { return true }
        if try target.has("outcomes", uid) { return true }
        if try scratch.has("aside", uid) { return true }
        if ended.contains(uid.span.bigEndian64(at: 0)) { return true }
        return (try target.get("identities", uid)).map { $0[13] != 0 } ?? false
    }

    private func put(_ record: [UInt8], due: Int64?) throws(JournalError) {
        let (bytes, head) = figures.fitted(record, flagged: due != nil)
        let uid = Key.uid(head.uid).span.array
        greatestUID = max(greatestUID, head.uid)
        try scratch.put("unconfirmed", uid, [])
        let place = Key.entry(head.lane, head.uid).span.array
        if let due {
            try target.put("deferred", Key.deferred(head.lane, due: due, head.uid).span.array, bytes)
            var index: [UInt8] = []
            index.appendLittleEndian(UInt64(bitPattern: due))
            try target.put("deferredIndex", place, index)
        } else {
            try target.put("entries", place, bytes)
        }
        figures.count(head, due: due.map(WallTime.init(milliseconds:)))
        try noteNewest(bytes, uid: head.uid)
    }

    /// Counts an entry of which the newest wins. The rows are made anew, of what is left.
    func noteNewest(_ record: [UInt8], uid: UInt64) throws(JournalError) {
        guard let secret = figures.identityKey, let key = NewestRecord.key(ofRecord: record.span, secret) else {
            return
        }
        let name = NewestRecord.key(key)
        let known = try target.get("newest", name).flatMap { NewestRecord.read($0, key: name) }
        let expiration = NewestRecord.expiration(ofRecord: record.span)
        let entries = NewestEntries.accepting(UID(uid), expiration: expiration, after: known)
        try target.put("newest", name, NewestRecord.bytes(entries, key: name))
        figures.hasNewest = true
    }

    // MARK: What is found outside of the trees

    private func take(_ find: RecordCarver.Find) throws(JournalError) {
        switch find {
        case .entry(let head, let bytes): try takeEntry(head, bytes)
        case .rejection(let uid, let bytes): try takeEnd(uid, "rejections", bytes)
        case .outcome(let uid, let bytes): try takeEnd(uid, "outcomes", bytes)
        case .identity(let uid, let bytes): try takeIdentity(uid, bytes)
        case .outcomes(let header, let bytes): try takeBlock(header, bytes)
        default: break
        }
    }

    private func takeEntry(_ head: EntryRecord.Head, _ bytes: [UInt8]) throws(JournalError) {
        let key = Key.entry(head.lane, head.uid).span.array
        // Deferred ones can be out of reach only where both their table and its index are.
        let isOutOfReach =
            holes.contains("entries", key) || holes.contains("aside", key)
            || holes.has("deferred") && holes.contains("deferredIndex", key)
        guard isOutOfReach, head.uid > 0, try !scratch.has("unconfirmed", Key.uid(head.uid).span.array) else { return }
        if let old = try scratch.get("candidates", key), EntryRecord.uncheckedHead(old.span).attempts >= head.attempts {
            return
        }
        try scratch.put("candidates", key, bytes)
    }

    private func takeEnd(_ uid: UInt64, _ table: String, _ bytes: [UInt8]) throws(JournalError) {
        let key = Key.uid(uid).span.array
        guard uid > 0, try !scratch.has("unconfirmed", key) else { return }
        try scratch.put("ended", key, [])
        guard holes.contains(table, key), try !target.has(table, key) else { return }
        greatestUID = max(greatestUID, uid)
        try restore(table, key, table == "rejections" ? figures.fitted(rejection: bytes) : bytes)
    }

    private func takeIdentity(_ uid: UInt64, _ bytes: [UInt8]) throws(JournalError) {
        let key = Key.uid(uid).span.array
        let isOver = bytes[13] != 0
        let isKept = try scratch.has("unconfirmed", key)
        guard uid > 0, !isOver || !isKept else { return }
        if isOver { try scratch.put("ended", key, []) }
        guard figures.hasFacts, holes.contains("identities", key) else { return }
        if let old = try target.get("identities", key), old[13] != 0 || !isOver { return }
        greatestUID = max(greatestUID, uid)
        try restore("identities", key, bytes)
    }

    private func judgeCandidates() throws(JournalError) {
        try scratch.forEach("candidates") { (key, record) throws(JournalError) in
            let uid = Array(key[4...])
            guard try !self.scratch.has("unconfirmed", uid) else { return }
            guard try !self.scratch.has("ended", uid), try !self.hasEnded(uid) else {
                self.report.ended += 1
                return
            }
            self.report.restored["entries", default: 0] += 1
            try self.put(record, due: nil)
        }
    }

    // MARK: At the end

    /// Makes an identity agree with its entry. An identity without an entry is forgotten, so that a repeat is accepted.
    private func reconcileIdentities() throws(JournalError) {
        try target.forEach("identities") { (key, value) throws(JournalError) in
            var isUnconfirmed = try self.scratch.has("unconfirmed", key)
            if try self.scratch.has("aside", key) { isUnconfirmed = true }
            if (value[13] == 0) != isUnconfirmed {
                self.drop("identities")
                try self.target.delete("identities", key)
            }
        }
    }

    private func writeFigures() throws(JournalError) {
        let rows = figures.rows(greatestUID: greatestUID, hasLog: outcomeLog.isThere, isSealed: seal != nil)
        for (table, key, value) in rows { try target.put(table, key, value) }
        try putSealing()
    }
}
