package import Holdfast
import HoldfastLMDB

/// The report of a salvage.
package struct SalvageReport: Sendable {
    /// The new journal.
    package var directory: String
    /// Rows from parts of the trees that are sound, by table.
    package var kept: [String: Int] = [:]
    /// Rows found outside of the trees, where what the trees had is out of reach, by table.
    package var restored: [String: Int] = [:]
    /// Unconfirmed entries that were found outside of the trees but have provably ended: they were left out.
    package var ended = 0
    /// Rows that are damaged, and of which no sound copy was looked for or found, by table.
    package var dropped: [String: Int] = [:]
    /// Outcomes of the history that are lost; the most that can be where its figures are lost as well.
    package var lostOutcomes = 0
    /// Decisions that an operator should know of.
    package var remarks: [String] = []
}

/// Copies the sound parts of a damaged journal into a new one, and searches the whole file for the rest.
///
/// Every row in the sound parts of the trees is kept. Rows that lay in unreadable parts are searched by their magic letters
/// and checksum in every byte of the file, free pages included. An entry found so was once accepted. It has ended if a
/// rejection, an outcome or an identity says so, or if the part of the tree where it would be is sound and lacks it. All
/// others are restored as possibly sent: better twice than never. Of several copies, the one with the most attempts is kept.
///
/// The new journal is made like a backup: see ``JournalBackup``. The old one is not changed.
package enum JournalSalvage {
    /// - Parameter keys: with which it may be sealed. The new journal is sealed with the first of them then.
    /// - Throws: ``JournalError`` with code `notFound`, `alreadyExists`, `wrongKey`, `diskFull`, `permissionDenied`, `limitReached` or
    ///   `inputOutput`.
    package static func run(
        directory: String, destination: String, keys: JournalKeys? = nil,
        limits: InspectionLimits = InspectionLimits(), progress: @escaping (InspectionProgress) -> Void = { _ in }
    ) throws(JournalError) -> SalvageReport {
        let image = try JournalImage(directory, limits, keys)
        let new = try NewJournal(destination, of: image.place)
        return try new.making { () throws(JournalError) in
            var report = SalvageReport(directory: new.destination)
            // Entries first, as in a backup.
            report = try image.read(.entries, salvaging: true) { (opened) throws(JournalError) in
                let salvage = try EntriesSalvage(opened, keys, new.place, report, progress)
                defer { salvage.close() }
                try salvage.run()
                return salvage.report
            }
            report = try image.read(.blacklist, salvaging: true) { (opened) throws(JournalError) in
                let salvage = try BlacklistSalvage(opened, keys, new.place, report, progress)
                defer { salvage.close() }
                try salvage.run()
                return salvage.report
            }
            _ = try new.finish(of: image.place, keys, progress)
            return report
        }
    }
}

/// The common part of the salvages of the two files.
class PartSalvage {
    let opened: JournalImage.Opened
    let place: JournalDirectory
    let target: StagingStore
    /// How the new file is sealed; nil where the old one is not.
    let seal: JournalSeal?
    var report: SalvageReport
    var holes = Holes()
    private let progress: (InspectionProgress) -> Void
    private var failure: JournalError?
    /// Names that the tables of such a file have.
    private let names: [String]

    init(
        _ opened: JournalImage.Opened, _ keys: JournalKeys?, _ place: JournalDirectory, tables: [String],
        others: [String] = [], _ report: SalvageReport,
        _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) {
        self.opened = opened
        self.place = place
        self.report = report
        self.progress = progress
        names = tables + others
        // Never more than the whole source twice over, and its free list.
        let source = opened.finding.file?.byteCount ?? 0
        var seal: JournalSeal?
        if let keys, let old = opened.seal {
            seal = try JournalSeal(opened.part, keys, listed: nil, index: old.index)
        }
        self.seal = seal
        target = try StagingStore(
            place.path + "/" + opened.part.rawValue, tables: tables, mapByteCount: 4 * source + (4 << 30), seals: seal)
    }

    func close() { target.close() }

    /// Whether the file names the table.
    func hasTable(_ name: String) -> Bool {
        guard let file = opened.finding.file else { return false }
        let walk = FileWalk(file) { _ in
            true
        } fault: { _ in
        }
        return walk.tables().contains { table in isTable(table.name, name) }
    }

    /// Whether a table of this name is the wanted one: its name may be damaged.
    private func isTable(_ name: String, _ wanted: String) -> Bool {
        name == wanted || TableNames.original(of: name, among: names) == wanted
    }

    /// Says of tables with other names what became of their rows.
    func remarkStrangeTables() {
        guard let file = opened.finding.file else { return }
        let walk = FileWalk(file) { [opened] _ in
            opened.goOn()
        } fault: { _ in
        }
        for table in walk.tables() where !names.contains(table.name) {
            var count = 0
            walk.walk(table.record, name: table.name) { _, _, _ in count += 1 }
            let words = "In \(opened.part.file) there is a table \(table.name.debugDescription) with \(count) rows"
            if let original = TableNames.original(of: table.name, among: names) {
                report.remarks.append("\(words): its name is damaged, and it was taken for \(original).")
            } else {
                if count > 0 { report.dropped[table.name, default: 0] += count }
                report.remarks.append("\(words), which this Holdfast does not know: they were not taken.")
            }
        }
    }

    /// Walks those of the tables that can be reached, in this order, and notes what cannot be.
    func walk(
        _ wanted: [String],
        row: (_ table: String, _ key: [UInt8], _ value: [UInt8]) throws(JournalError) -> Void
    ) throws(JournalError) {
        guard let file = opened.finding.file else {
            for table in wanted { holes.add(table) }
            return
        }
        let (phase, total) = ("copying \(opened.part.rawValue)", Int(file.lastPage) + 1)
        let lost = Monitor<[(String, KeyRange)]>([])
        let walk = FileWalk(file) { [progress, opened] done in
            if done % 1024 == 0 { progress(InspectionProgress(phase: phase, done: done, total: total)) }
            return opened.goOn()
        } fault: { fault in
            // Figures that are wrong say that a page is not the right one, though all of it is sound: then nobody knows
            // what the table lacks.
            if let table = fault.table { lost.withLock { $0.append((table, fault.lost ?? KeyRange())) } }
        }
        let tables = walk.tables()
        for name in wanted {
            let found = tables.filter { table in isTable(table.name, name) }
            for table in found {
                walk.walk(table.record, name: name) { key, value, place in
                    guard failure == nil, !place.isTree else { return }
                    do throws(JournalError) { try open(name, key, value, row) } catch { failure = error }
                }
            }
            // A journal of an older version lacks the added ones, and lacks nothing by it.
            if found.isEmpty, !EntriesStore.Tables.addedNames.contains(name) { holes.add(name) }
            for (table, range) in lost.withLock({ lost in exchange(&lost, with: []) }) { holes.add(table, range) }
            if let failure { throw failure }
        }
    }

    /// Passes a row as it was put. One that cannot be opened is passed in a form that is no record.
    private func open(
        _ table: String, _ key: [UInt8], _ value: Span<UInt8>,
        _ body: (_ table: String, _ key: [UInt8], _ value: [UInt8]) throws(JournalError) -> Void
    ) throws(JournalError) {
        guard let seal = opened.seal?.tableSeal(of: table), seal.covers(key.span) else {
            return try body(table, key, value.array)
        }
        var row = OpenedRow()
        seal.open(value, storedKey: key.span, into: &row)
        try body(table, seal.hidesKeys ? row.key : key, row.value)
    }

    /// Puts the facts that say how the new file is sealed.
    func putSealing() throws(JournalError) {
        for (key, value) in seal?.facts ?? [] { try target.put("facts", key, value) }
    }

    /// Searches the whole file.
    func carve(
        for magics: [UInt32], _ body: (RecordCarver.Find) throws(JournalError) -> Void
    ) throws(JournalError) {
        guard let path = opened.path else { return }
        try RecordCarver.scan(
            path, for: magics, opened.seal,
            goOn: { done, total in
                progress(InspectionProgress(phase: "searching \(opened.part.rawValue)", done: done, total: total))
                return opened.goOn()
            }, body)
    }

    func keep(_ table: String, _ key: [UInt8], _ value: [UInt8]) throws(JournalError) {
        report.kept[table, default: 0] += 1
        try target.put(table, key, value)
    }

    func restore(_ table: String, _ key: [UInt8], _ value: [UInt8]) throws(JournalError) {
        report.restored[table, default: 0] += 1
        try target.put(table, key, value)
    }

    func drop(_ table: String) { report.dropped[table, default: 0] += 1 }
}

/// Salvages the blacklist: a recipient that was found outside of the trees may have been lifted since, but it is better
/// not sent to than sent to in vain.
private final class BlacklistSalvage: PartSalvage {
    init(
        _ opened: JournalImage.Opened, _ keys: JournalKeys?, _ place: JournalDirectory, _ report: SalvageReport,
        _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) {
        try super.init(
            opened, keys, place, tables: BlacklistTables.requiredNames,
            others: [BlacklistPlace.Part.addresses.rawValue],
            report,
            progress)
    }

    func run() throws(JournalError) {
        remarkStrangeTables()
        // Without the key that hid them, nobody can say which recipients are out of reach.
        if let seal = opened.seal, seal.isIndexNew { for table in BlacklistTables.tableNames { holes.add(table) } }
        try walk(BlacklistTables.tableNames) { (table, key, value) throws(JournalError) in
            guard let part = BlacklistPlace.Part(rawValue: table),
                part == .addresses || DeviceToken(bytes: key) != nil
            else { return self.drop(table) }
            do throws(EntryRecord.Fault) {
                _ = try RecipientRow(place: BlacklistPlace(part: part, key: key), value: value).entries()
            } catch {
                self.drop(table)
                return self.holes.add(table, .only(key))
            }
            try self.keep(table, key, value)
        }
        if !holes.isEmpty {
            try carve(for: [TokenRecord.magic, AddressRecord.magic]) { (find) throws(JournalError) in
                guard case .blacklisted(let place, let entry) = find,
                    self.holes.contains(place.part.rawValue, try self.stored(place))
                else { return }
                try self.add(place, entry)
            }
        }
        try target.put("facts", Array("opening".utf8), [1])
        try putSealing()
        try target.finish()
    }

    /// The key under which a recipient lies in the old file.
    private func stored(_ place: BlacklistPlace) throws(JournalError) -> [UInt8] {
        guard let seal = opened.seal?.tableSeal(of: place.part.rawValue) else { return place.key }
        return try translated("search", self.place.path) { () throws(LMDBError) in try seal.place(of: place.key.span) }
    }

    private func add(_ place: BlacklistPlace, _ entry: BlacklistEntry) throws(JournalError) {
        let (table, key) = (place.part.rawValue, place.key)
        guard let old = try target.get(table, key) else {
            return try restore(table, key, RecipientRow.bytes([entry], key: key))
        }
        var entries: TokenEntries
        do throws(EntryRecord.Fault) {
            entries = TokenEntries(try RecipientRow(place: place, value: old).entries())
        } catch {
            // What was put there was read before.
            return
        }
        guard entries.restore(entry) else { return }
        try target.put(table, key, RecipientRow.bytes(entries.entries, key: key))
    }
}
