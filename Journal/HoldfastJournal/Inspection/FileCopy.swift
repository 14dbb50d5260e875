import Holdfast
import HoldfastLMDB

/// A data file written anew from the rows of another, without its free pages.
struct FileCopy {
    private(set) var rows: [String: Int] = [:]
    /// The sum of the digests of all rows as they were put, in whatever order and however they are sealed.
    private(set) var digest: UInt64 = 0
    private(set) var byteCount = 0
    /// Some of the facts say how a file is sealed, and are other ones in another file.
    private let leavesOutFacts: Bool

    static func tables(of part: JournalImage.Part) -> [String] {
        part == .entries ? EntriesStore.Tables.everyName : BlacklistTables.everyName
    }

    /// - Parameters:
    ///   - path: of the new file.
    ///   - target: how the new file is sealed; nil for one that is not.
    ///   - renews: whether rows that are sealed with another key than the target's are sealed anew.
    ///   - keepsPlace: whether a working copy's place in its log is copied, too: without it, the new file is a journal of its own.
    ///   - change: returns the new value of a row; `nil` leaves it as it is.
    /// - Throws: `damaged` when the source is not sound; whatever the disk says.
    init(
        of opened: JournalImage.Opened, to path: String, sealing target: JournalSeal?, renews: Bool = false,
        keepsPlace: Bool = false,
        _ progress: @escaping (InspectionProgress) -> Void,
        change: (_ table: String, _ value: Span<UInt8>) throws(EntryRecord.Fault) -> [UInt8]?
    ) throws(JournalError) {
        guard opened.finding.faults.isEmpty, let file = opened.finding.file else {
            throw Self.damaged(opened, opened.finding.faults.first)
        }
        let part = opened.part
        let total = Int(file.lastPage) + 1
        let faults = Monitor<PageFault?>(nil)
        var strange: [String] = []
        let walk = FileWalk(file) { done in
            if done % 1024 == 0 {
                progress(InspectionProgress(phase: "copying \(part.rawValue)", done: done, total: total))
            }
            return opened.goOn() && faults.withLock { fault in fault == nil }
        } fault: { fault in
            faults.withLock { first in first = first ?? fault }
        }
        let copy = RowCopy(source: opened.seal, target: target, renews: renews)
        leavesOutFacts = copy.isSealed
        do throws(LMDBError) {
            var writer = try DataFileWriter(
                path, pageByteCount: file.pageByteCount, mapByteCount: file.meta.mapByteCount,
                transaction: file.meta.transaction)
            let place = part == .entries ? WorkingCopy.tableName : nil
            let tables = walk.tables().filter { keepsPlace || $0.name != place }
            strange = tables.map(\.name).filter { $0 != place && !Self.tables(of: part).contains($0) }
            for table in strange.isEmpty ? tables : [] {
                writer.beginTable(table.name)
                if copy.changesOrder(of: table.name) {
                    try append(table, walk, copy, to: &writer, sortingIn: path + Self.sorting)
                } else {
                    try append(table, walk, copy, to: &writer, change)
                }
                try writer.endTable()
            }
            byteCount = try writer.finish()
        } catch {
            throw JournalError(error, "copy to", path)
        }
        if let fault = faults.withLock(\.self) { throw Self.damaged(opened, fault) }
        if let what = TableNames.contradiction(missing: [], strange: strange) {
            throw .damaged("\(opened.directory)/\(part.file) has \(what)", in: opened.directory)
        }
    }

    /// Behind the path of a file, the directory in which rows are put into their order.
    static let sorting = ".sorting"

    private mutating func append(
        _ table: (name: String, record: TreeRecord), _ walk: FileWalk, _ copy: RowCopy,
        to writer: inout DataFileWriter,
        _ change: (_ table: String, _ value: Span<UInt8>) throws(EntryRecord.Fault) -> [UInt8]?
    ) throws(LMDBError) {
        var failure: LMDBError?
        // Of the facts, which say how the file is sealed.
        var facts: [RowCopy.Stored] = []
        let areFacts = copy.isSealed && table.name == "facts"
        walk.walk(table.record, name: table.name) { key, value, place in
            guard failure == nil else { return }
            count(table.name, key, value, copy.source)
            do throws(LMDBError) {
                let changed = try copy.stored(table.name, key, value, change: change)
                if areFacts {
                    facts.append(changed ?? RowCopy.Stored(key: key, value: value.array))
                } else if let changed {
                    try writer.append(changed.key, changed.value.span)
                } else {
                    try writer.append(key, value)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        for row in areFacts ? try copy.facts(facts) : [] { try writer.append(row.key, row.value.span) }
    }

    /// Puts the rows into the order of their new keys first.
    private mutating func append(
        _ table: (name: String, record: TreeRecord), _ walk: FileWalk, _ copy: RowCopy,
        to writer: inout DataFileWriter, sortingIn directory: String
    ) throws(LMDBError) {
        var failure: LMDBError?
        let sorter = try RowSorter(directory, mapByteCount: 4 * walk.file.byteCount + (4 << 30))
        walk.walk(table.record, name: table.name) { key, value, place in
            guard failure == nil else { return }
            count(table.name, key, value, copy.source)
            do throws(LMDBError) {
                guard let row = try copy.stored(table.name, key, value, change: { _, _ in nil }) else {
                    throw LMDBError(.notSealed, "copy a row of \(table.name)", path: directory)
                }
                try sorter.put(row.key, row.value)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        try sorter.passAll { (key, value) throws(LMDBError) in try writer.append(key, value) }
        try sorter.remove()
    }

    /// The same figures of a file that was written.
    /// - Parameter leavesOutFacts: whether the file was sealed otherwise before.
    init(reading opened: JournalImage.Opened, leavingOutFacts leavesOutFacts: Bool) throws(JournalError) {
        self.leavesOutFacts = leavesOutFacts
        guard let file = opened.finding.file else { throw Self.damaged(opened, opened.finding.faults.first) }
        let walk = FileWalk(file) { _ in
            opened.goOn()
        } fault: { _ in
        }
        for table in walk.tables() {
            walk.walk(table.record, name: table.name) { key, value, _ in count(table.name, key, value, opened.seal) }
        }
    }

    private mutating func count(_ table: String, _ key: [UInt8], _ value: Span<UInt8>, _ seal: JournalSeal?) {
        rows[table, default: 0] += 1
        if table == "facts", leavesOutFacts { return }
        guard seal?.tableSeal(of: table) != nil else {
            digest &+= Self.digest(key.span, value)
            return
        }
        let row = RowCopy.opened(table, key, value, seal)
        digest &+= Self.digest(row.key.span, row.value.span)
    }

    private static func digest(_ key: Span<UInt8>, _ value: Span<UInt8>) -> UInt64 {
        XXH64.hash(value, seed: XXH64.hash(key))
    }

    private static func damaged(_ opened: JournalImage.Opened, _ fault: PageFault?) -> JournalError {
        .damaged(
            "\(opened.part.file) is damaged: \(fault?.what ?? "it has no meta page")", in: opened.directory)
    }
}
