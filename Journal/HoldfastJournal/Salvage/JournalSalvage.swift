public import Holdfast
import HoldfastLMDB

/// What a salvage brought into its new journal.
public struct SalvageReport: Sendable {
    /// The new journal.
    public var directory: String
    /// Rows from parts of the trees that are sound, by table.
    public var kept: [String: Int] = [:]
    /// Rows found outside of the trees, where what the trees had is out of reach, by table.
    public var restored: [String: Int] = [:]
    /// Unconfirmed entries that were found outside of the trees but have provably ended: they were left out.
    public var ended = 0
    /// Rows that are damaged, and of which no sound copy was looked for or found, by table.
    public var dropped: [String: Int] = [:]
    /// Decisions that somebody should know of.
    public var remarks: [String] = []
}

/// Copies what is sound of a damaged journal into a new one, and looks for the rest in the whole file.
///
/// From the sound parts of the trees everything is taken. What lay in a part that cannot be read is looked for by its
/// letters and checksum in every byte of the file, free pages included. An entry that is found so is known to have been
/// accepted; whether it has ended is not known, unless a rejection, an outcome or an identity says that it has, or the
/// part of the tree that would have it is sound and has it not. The others are restored, as possibly sent: better twice
/// than never. Of several copies the one with most attempts is taken.
///
/// The new journal is made like a backup: see ``JournalBackup``. The old one is not changed.
public enum JournalSalvage {
    /// - Throws: ``JournalError`` with code `notFound`, `alreadyExists`, `diskFull`, `permissionDenied`, `limitReached` or
    ///   `inputOutput`.
    public static func run(
        directory: String, destination: String, limits: InspectionLimits = InspectionLimits(),
        progress: @escaping (InspectionProgress) -> Void = { _ in }
    ) throws(JournalError) -> SalvageReport {
        let image = try JournalImage(directory, limits)
        let new = try NewJournal(destination, of: image.place)
        return try new.making { () throws(JournalError) in
            var report = SalvageReport(directory: new.destination)
            // Entries first, as in a backup.
            report = try image.read(.entries) { (opened) throws(JournalError) in
                let salvage = try EntriesSalvage(opened, new.place, report, progress)
                defer { salvage.close() }
                try salvage.run()
                return salvage.report
            }
            report = try image.read(.blacklist) { (opened) throws(JournalError) in
                let salvage = try BlacklistSalvage(opened, new.place, report, progress)
                defer { salvage.close() }
                try salvage.run()
                return salvage.report
            }
            _ = try new.finish(of: image.place, progress)
            return report
        }
    }
}

/// What the salvages of the two files have in common.
class PartSalvage {
    let opened: JournalImage.Opened
    let place: JournalDirectory
    let target: StagingStore
    var report: SalvageReport
    var holes = Holes()
    private let progress: (InspectionProgress) -> Void
    private var failure: JournalError?
    /// Names that the tables of such a file have.
    private let names: [String]

    init(
        _ opened: JournalImage.Opened, _ place: JournalDirectory, tables: [String], others: [String] = [],
        _ report: SalvageReport,
        _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) {
        self.opened = opened
        self.place = place
        self.report = report
        self.progress = progress
        names = tables + others
        // Never more than the whole source twice over, and its free list.
        let source = opened.finding.file?.byteCount ?? 0
        target = try StagingStore(
            place.path + "/" + opened.part.rawValue, tables: tables, mapByteCount: 4 * source + (4 << 30))
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

    /// Whether a table with that name is the one that is wanted: its name may be damaged.
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
                    do throws(JournalError) { try row(name, key, value.array) } catch { failure = error }
                }
            }
            // A journal of an older version lacks the added ones, and lacks nothing by it.
            if found.isEmpty, !EntriesStore.Tables.addedNames.contains(name) { holes.add(name) }
            for (table, range) in lost.withLock({ lost in exchange(&lost, with: []) }) { holes.add(table, range) }
            if let failure { throw failure }
        }
    }

    /// Searches the whole file.
    func carve(
        for magics: [UInt32], _ body: (RecordCarver.Find) throws(JournalError) -> Void
    ) throws(JournalError) {
        guard let path = opened.path else { return }
        try RecordCarver.scan(
            path, for: magics,
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
        _ opened: JournalImage.Opened, _ place: JournalDirectory, _ report: SalvageReport,
        _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) {
        try super.init(
            opened, place, tables: BlacklistTables.requiredNames, others: [BlacklistPlace.Part.addresses.rawValue],
            report,
            progress)
    }

    func run() throws(JournalError) {
        remarkStrangeTables()
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
                    self.holes.contains(place.part.rawValue, place.key)
                else { return }
                try self.add(place, entry)
            }
        }
        try target.put("facts", Array("opening".utf8), [1])
        try target.finish()
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
