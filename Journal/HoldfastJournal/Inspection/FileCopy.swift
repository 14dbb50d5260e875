import Holdfast
import HoldfastLMDB

/// A data file written anew from the rows of another, without its free pages.
struct FileCopy {
    private(set) var rows: [String: Int] = [:]
    /// The digest of all keys and values as they were read, in their order.
    private(set) var digest: UInt64 = 0
    private(set) var byteCount = 0

    static func tables(of part: JournalImage.Part) -> [String] {
        part == .entries ? EntriesStore.Tables.everyName : BlacklistTables.everyName
    }

    /// - Parameters:
    ///   - path: of the new file.
    ///   - change: returns the new value of a row; `nil` leaves it as it is.
    /// - Throws: `damaged` when the source is not sound; whatever the disk says.
    init(
        of opened: JournalImage.Opened, to path: String, _ progress: @escaping (InspectionProgress) -> Void,
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
        do throws(LMDBError) {
            var writer = try DataFileWriter(
                path, pageByteCount: file.pageByteCount, mapByteCount: file.meta.mapByteCount,
                transaction: file.meta.transaction)
            var failure: LMDBError?
            let tables = walk.tables()
            strange = tables.map(\.name).filter { name in !Self.tables(of: part).contains(name) }
            for table in strange.isEmpty ? tables : [] {
                writer.beginTable(table.name)
                walk.walk(table.record, name: table.name) { key, value, place in
                    guard failure == nil else { return }
                    count(table.name, key, value)
                    do throws(LMDBError) {
                        if let changed = try Self.changed(table.name, value, change) {
                            try writer.append(key, changed.span)
                        } else {
                            try writer.append(key, value)
                        }
                    } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
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

    /// The same figures of a file that was written.
    init(reading opened: JournalImage.Opened) throws(JournalError) {
        guard let file = opened.finding.file else { throw Self.damaged(opened, opened.finding.faults.first) }
        let walk = FileWalk(file) { _ in
            opened.goOn()
        } fault: { _ in
        }
        for table in walk.tables() {
            walk.walk(table.record, name: table.name) { key, value, _ in count(table.name, key, value) }
        }
    }

    private mutating func count(_ table: String, _ key: [UInt8], _ value: Span<UInt8>) {
        rows[table, default: 0] += 1
        digest = XXH64.hash(value, seed: XXH64.hash(key.span, seed: digest))
    }

    /// A record that cannot be changed stays as it is: the look at the copy that follows finds it.
    private static func changed(
        _ table: String, _ value: Span<UInt8>,
        _ change: (_ table: String, _ value: Span<UInt8>) throws(EntryRecord.Fault) -> [UInt8]?
    ) throws(LMDBError) -> [UInt8]? {
        do throws(EntryRecord.Fault) { return try change(table, value) } catch { return nil }
    }

    private static func damaged(_ opened: JournalImage.Opened, _ fault: PageFault?) -> JournalError {
        .damaged(
            "\(opened.part.file) is damaged: \(fault?.what ?? "it has no meta page")", in: opened.directory)
    }
}
