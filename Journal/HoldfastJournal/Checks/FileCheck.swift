import Holdfast
import HoldfastLMDB

/// The check of one of the two files.
final class FileCheck {
    private let opened: JournalImage.Opened
    private let progress: (InspectionProgress) -> Void
    var report: VerificationReport
    /// Tables whose trees have lost rows, or were not looked at to their end, so that figures about them say nothing.
    private(set) var torn: Set<String> = []
    /// The first fault that liblmdb does not survive.
    private(set) var fatal: JournalDamage?
    /// The first thing found by which the trees, or their rows and figures, contradict each other, as an older page does in
    /// the place of a newer one. A record that cannot be read is none, nor is a damaged key.
    private(set) var contradiction: JournalDamage?
    /// At an opening: the most pages that are looked at. What is no contradiction is then left to later.
    private let greatestPageCount: Int?
    var part: JournalImage.Part { opened.part }

    var isOpening: Bool { greatestPageCount != nil }

    private static let stride = 1024

    init(
        _ opened: JournalImage.Opened, _ report: VerificationReport, greatestPageCount: Int? = nil,
        _ progress: @escaping (InspectionProgress) -> Void
    ) {
        self.opened = opened
        self.greatestPageCount = greatestPageCount
        self.report = report
        self.progress = progress
    }

    func run() {
        for fault in opened.finding.faults { report.add(damage(fault)) }
        guard let file = opened.finding.file else { return }
        let total = Int(file.lastPage) + 1
        let walk = FileWalk(file) { [opened, progress, part, greatestPageCount] done in
            if done % Self.stride == 0 {
                progress(InspectionProgress(phase: "checking \(part.rawValue)", done: done, total: total))
            }
            return done < greatestPageCount ?? .max && opened.goOn()
        } fault: { [unowned self] fault in
            add(fault)
        }
        let tables = walk.tables()
        switch part {
        case .entries: EntriesCheck(self, walk, tables, opened.finding).run()
        case .blacklist: BlacklistCheck(self, walk, tables, opened.finding).run()
        }
        walk.checkFreeList()
        if let older = opened.finding.older, !opened.isInUse, !isOpening { walk.checkCommit(of: older) }
        report.pages += walk.visited
    }

    func goOn() -> Bool { opened.goOn() }

    func tell(_ phase: String, _ done: Int, _ total: Int) {
        if done % Self.stride == 0 { progress(InspectionProgress(phase: phase, done: done, total: total)) }
    }

    private func add(_ fault: PageFault) {
        if fault.lost != nil, let table = fault.table { torn.insert(table) }
        let damage = damage(fault)
        if fault.isFatal { fatal = fatal ?? damage }
        if !fault.isDamagedKey { contradiction = contradiction ?? damage }
        report.add(damage)
    }

    private func damage(_ fault: PageFault) -> JournalDamage {
        JournalDamage(
            file: part.file, page: fault.page, table: fault.table, what: fault.what, meaning: DamageMeaning.of(fault))
    }

    /// Damage that was found in a record or figure.
    ///
    /// - Parameter isContradiction: whether no journal is ever like that, whatever became of records in it that could not
    ///   be read.
    func add(
        _ what: String, table: String, page: UInt64? = nil, lane: UInt32? = nil, uid: UInt64? = nil,
        isContradiction: Bool = false, means meaning: String
    ) {
        let damage = JournalDamage(
            file: part.file, page: page, table: table, lane: lane, uid: uid.map { UID($0) }, what: what,
            meaning: meaning)
        if isContradiction { contradiction = contradiction ?? damage }
        report.add(damage)
    }

    var isSealed: Bool { opened.seal != nil }

    /// The list of the keys with which the file may be sealed.
    func checkSealing(_ value: [UInt8], _ page: UInt64) {
        do throws(EntryRecord.Fault) {
            _ = try SealingRecord(value)
        } catch {
            add(
                "the list of its keys: \(error.words)", table: "facts", page: page,
                means: "The journal does not open. Salvage it, with its keys.")
        }
    }

    func remark(_ text: String) {
        if !report.remarks.contains(text) { report.remarks.append(text) }
    }

    /// Walks the tables of those names with `row`, and tells of those that are missing, and of others that are there.
    ///
    /// - Parameter skipped: tables whose rows are counted, and not looked at.
    func walk(
        _ walk: FileWalk, _ tables: [(name: String, record: TreeRecord)], _ wanted: [String],
        skipping skipped: Set<String> = [],
        row: (_ table: String, _ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) -> Void
    ) {
        for name in wanted {
            guard let table = tables.first(where: { table in table.name == name }) else {
                add("there is no such table", table: name, means: DamageMeaning.missingTable)
                torn.insert(name)
                continue
            }
            var count = 0
            walk.walk(table.record, name: name) { key, value, place in
                count += 1
                if place.isTree {
                    add("one of its rows is a table", table: name, page: place.page, means: DamageMeaning.badRow)
                } else if !skipped.contains(name) {
                    open(name, key, value) { key, value in row(name, key, value, place.page) }
                }
            }
            if walk.isStopped { torn.insert(name) }
            // The facts of the blacklist are not worth a name of their own.
            if part == .entries || name != "facts" { report.rows[name] = count }
        }
        for table in tables where !wanted.contains(table.name) {
            var count = 0
            walk.walk(table.record, name: table.name) { _, _, _ in count += 1 }
            // The place of a working copy in its log, where a database keeps the journal.
            if part == .entries, table.name == WorkingCopy.tableName { continue }
            add(
                "there is a table of this name with \(count) rows, which is none of this Holdfast's", table: table.name,
                means: "A newer Holdfast may have made it, or the name of another one is damaged.")
        }
    }

    /// Passes a row as it was put. One that cannot be opened is passed in a form that is no record.
    private func open(
        _ table: String, _ key: [UInt8], _ value: Span<UInt8>, _ body: (_ key: [UInt8], _ value: Span<UInt8>) -> Void
    ) {
        guard let seal = opened.seal?.tableSeal(of: table), seal.covers(key.span) else { return body(key, value) }
        do throws(EntryRecord.Fault) {
            report.sealed[try SealedRow.head(value).id.description, default: 0] += 1
        } catch {
            // Whoever reads the row says so.
        }
        var row = OpenedRow()
        seal.open(value, storedKey: key.span, into: &row)
        body(seal.hidesKeys ? row.key : key, row.value.span)
    }

    /// Checks that the map's size was set by a Holdfast: nothing else shows a flipped bit in it.
    func checkMap(_ finding: DataFile.Finding, expected: UInt64?) {
        guard let file = finding.file, let older = finding.older else { return }
        let map = file.meta.mapByteCount
        if map != older.mapByteCount, map != expected {
            add(
                "its map has \(map) bytes on one meta page and \(older.mapByteCount) on the other", table: "meta pages",
                means:
                    "No notification is affected. Readers reserve that much address space; the next owner sets it anew."
            )
        }
    }
}

/// The meaning of damage, for people.
enum DamageMeaning {
    static let missingTable = "All that it held is out of reach. Salvage looks for it in the whole file."
    static let badRow = "What it held is lost."
    static let figures = "Figures and listings are wrong; no notification is affected."

    static func of(_ fault: PageFault) -> String {
        switch fault.table {
        case nil: "The journal cannot be used as it is: liblmdb may stop the process by a signal. Salvage it."
        case PageFault.freeList:
            "Pages in use may be written over, and the next commits may fail. Do not write to it: salvage it."
        case PageFault.tables: missingTable
        default:
            fault.lost == nil
                ? "The table's own figures are wrong: liblmdb may fail on it. Salvage it."
                : "Rows are out of reach, and reading them may stop the process. Salvage looks for them in the whole file."
        }
    }
}
