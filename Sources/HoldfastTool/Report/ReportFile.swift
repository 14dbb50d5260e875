internal import Foundation
internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix

/// The two files of a report: the report itself, to which lines are only added, and `REPORT.resume` beside it, which knows the
/// accepted notifications with their lines, and how far both have come.
///
/// A checkpoint makes all of it durable: the lines first, then the records, then how far they go. What lies behind the last
/// checkpoint after a crash is cut off, and written again. The companion is locked meanwhile: one run writes a report.
final class ReportFile {
    private static let headerSize = 16 << 10
    private static let slotSize = 512
    private static let recordsOffset = UInt64(headerSize + 2 * slotSize)
    private static let pageRecords = 2048
    private static let bufferedBytes = 1 << 20

    let path: String
    let header: ReportHeader
    private(set) var state: ReportState
    private let report: FileHandle
    private let companion: FileHandle
    private var slot: Int
    private var sequence: UInt64
    private var lines: [UInt8] = []
    private var records: [UInt8] = []
    private var page: (first: Int, records: [ReportRecord])?

    private struct Slot: Codable {
        var sequence: UInt64
        var state: ReportState
    }

    static func companionPath(of path: String) -> String { path + ".resume" }

    // MARK: Opening

    /// Makes both.
    ///
    /// - Parameters:
    ///   - cursor: outcomes of what is in the report come behind this one.
    ///   - lock: of the companion that a crash left of a report that was about to be made.
    /// - Throws: ``ToolError`` when there is a file of the name already, or none can be made: nothing is left then.
    static func create(
        _ path: String, _ header: ReportHeader, from cursor: OutcomeCursor, in lock: ReportLock? = nil
    ) throws(ToolError) -> ReportFile {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ToolError(.cannotOpen, "the report \(path) is there already: give another name, or remove it")
        }
        let first = Slot(sequence: 1, state: ReportState(cursor: cursor.rawValue))
        let empty = [UInt8](repeating: 0, count: slotSize)
        let bytes =
            try ReportBlock.encode(header, size: headerSize) + (try ReportBlock.encode(first, size: slotSize)) + empty
        let lock = if let lock { lock } else { try ReportLock.make(path) }
        do throws(ToolError) {
            try lock.fill(bytes)
            try makeEmpty(path)
        } catch {
            lock.discard()
            throw error
        }
        return try open(lock)
    }

    private static func makeEmpty(_ path: String) throws(ToolError) {
        do {
            let handle = try NIOFileHandle(
                _deprecatedPath: path, mode: .write, flags: .posix(flags: O_CREAT | O_EXCL, mode: 0o600))
            try handle.close()
        } catch {
            throw ToolError(making: path, error)
        }
    }

    /// Whether the report itself is missing, because a crash came while it was made: nothing was taken for it then.
    static func isUnmade(_ lock: ReportLock) -> Bool {
        guard !FileManager.default.fileExists(atPath: lock.path) else { return false }
        guard let start = try? start(of: lock.companion), let slot = start.slot else { return true }
        return slot.state.lines == 0 && slot.state.part == nil && slot.state.bytes == 0
    }

    private struct Start {
        var header: ReportHeader?
        /// The newer one, and where it is.
        var slot: Slot?
        var number = 0
    }

    private static func start(of companion: FileHandle) throws -> Start {
        try companion.seek(toOffset: 0)
        let bytes = Array(try companion.read(upToCount: Int(recordsOffset)) ?? Data())
        guard bytes.count >= headerSize else { return Start() }
        var start = Start(header: ReportBlock.decode(ReportHeader.self, Array(bytes[..<headerSize])))
        for number in 0..<2 {
            let offset = headerSize + number * slotSize
            guard bytes.count >= offset + slotSize,
                let slot = ReportBlock.decode(Slot.self, Array(bytes[offset..<offset + slotSize])),
                slot.sequence >= start.slot?.sequence ?? 0
            else { continue }
            (start.slot, start.number) = (slot, number)
        }
        return start
    }

    /// Opens both where the last checkpoint left them.
    static func open(_ lock: ReportLock) throws(ToolError) -> ReportFile {
        let (path, companion) = (lock.path, lock.companion)
        do {
            let start = try start(of: companion)
            guard let header = start.header, header.ids != nil, let last = start.slot else {
                throw damaged(path, "its first bytes cannot be read")
            }
            guard header.version <= ReportHeader.currentVersion else {
                throw ToolError(
                    .cannotOpen, "\(companionPath(of: path)) is of a newer Holdfast (version \(header.version))")
            }
            let state = last.state
            let report = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            guard state.lines >= 0, state.part ?? 0 >= 0, state.records >= 0, state.records < 1 << 48,
                try report.seekToEnd() >= state.bytes,
                try companion.seekToEnd() >= recordsOffset + UInt64(state.records * ReportRecord.size)
            else { throw damaged(path, "one of both is shorter than it was") }
            return ReportFile(path, header, state, report, companion, start.number, last.sequence)
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError(
                ToolError.status(ofFile: error, otherwise: .cannotOpen),
                "the report \(path) can't be gone on with: \(FileFailure.words(error))")
        }
    }

    private static func damaged(_ path: String, _ how: String) -> ToolError {
        ToolError(
            .unreadable,
            "the report \(path) can't be gone on with: with \(companionPath(of: path)), \(how). Go on without --report, and "
                + "ask `holdfast journal find` what became of single notifications")
    }

    private init(
        _ path: String, _ header: ReportHeader, _ state: ReportState, _ report: FileHandle, _ companion: FileHandle,
        _ slot: Int, _ sequence: UInt64
    ) {
        (self.path, self.header, self.state, self.report, self.companion) = (path, header, state, report, companion)
        (self.slot, self.sequence) = (slot, sequence)
    }

    /// Cuts off what lies behind the last checkpoint.
    func cut() throws(ToolError) {
        try performing {
            try report.truncate(atOffset: state.bytes)
            try companion.truncate(atOffset: Self.recordsOffset + UInt64(state.records * ReportRecord.size))
        }
    }

    // MARK: Writing

    func append(_ line: [UInt8]) throws(ToolError) {
        lines += line
        if lines.count >= Self.bufferedBytes { try flush() }
    }

    func append(_ record: ReportRecord) { records += record.bytes }

    private func flush() throws(ToolError) {
        try performing {
            try report.seek(toOffset: state.bytes)
            try report.write(contentsOf: Data(lines))
        }
        state.bytes += UInt64(lines.count)
        lines = []
    }

    /// Makes durable what was added, and how far the report has come with it.
    func checkpoint(lines: Int, offset: UInt64, part: Int?, cursor: OutcomeCursor) throws(ToolError) {
        try flush()
        try performing {
            try report.synchronize()
            if !records.isEmpty {
                try companion.seek(toOffset: Self.recordsOffset + UInt64(state.records * ReportRecord.size))
                try companion.write(contentsOf: Data(records))
                try companion.synchronize()
            }
        }
        state.records += records.count / ReportRecord.size
        records = []
        (state.lines, state.offset, state.part, state.cursor) = (lines, offset, part, cursor.rawValue)
        (slot, sequence) = (1 - slot, sequence + 1)
        let block = try ReportBlock.encode(Slot(sequence: sequence, state: state), size: Self.slotSize)
        try performing {
            try companion.seek(toOffset: UInt64(Self.headerSize + slot * Self.slotSize))
            try companion.write(contentsOf: Data(block))
            try companion.synchronize()
        }
    }

    /// Puts lines that the next run replaces behind the last checkpoint.
    func finish() throws(ToolError) {
        try flush()
        try performing { try report.synchronize() }
    }

    /// Removes the companion of a report that has all lines.
    func complete() throws(ToolError) {
        try performing { try FileManager.default.removeItem(atPath: Self.companionPath(of: path)) }
    }

    /// Removes both, of a sending of which nothing was taken.
    func discard() throws(ToolError) {
        try complete()
        try performing { try FileManager.default.removeItem(atPath: path) }
    }

    /// Lets go of both, and of the lock.
    func close() {
        try? report.close()
        try? companion.close()
    }

    // MARK: Reading

    /// - Parameter number: below ``ReportState/records``, or not durable yet.
    func record(_ number: Int) throws(ToolError) -> ReportRecord {
        guard number < state.records else {
            let start = (number - state.records) * ReportRecord.size
            return ReportRecord(records[start..<start + ReportRecord.size])
        }
        if let page, number >= page.first, number < page.first + page.records.count {
            return page.records[number - page.first]
        }
        let first = number / Self.pageRecords * Self.pageRecords
        page = (first, try records(from: first))
        guard let page, number < first + page.records.count else { throw Self.damaged(path, "records are missing") }
        return page.records[number - first]
    }

    private func records(from first: Int) throws(ToolError) -> [ReportRecord] {
        let count = min(Self.pageRecords, state.records - first)
        var bytes: [UInt8] = []
        try performing {
            try companion.seek(toOffset: Self.recordsOffset + UInt64(first * ReportRecord.size))
            bytes = Array(try companion.read(upToCount: count * ReportRecord.size) ?? Data())
        }
        return stride(from: 0, through: bytes.count - ReportRecord.size, by: ReportRecord.size).map {
            ReportRecord(bytes[$0..<$0 + ReportRecord.size])
        }
    }

    /// Reads all durable records, and then all lines of the report that name a UID.
    func replay(
        record: (ReportRecord) throws(ToolError) -> Void, line: (_ line: Int, _ uid: UID) throws(ToolError) -> Void
    ) throws(ToolError) {
        for first in stride(from: 0, to: state.records, by: Self.pageRecords) {
            for found in try records(from: first) {
                guard found.uid.rawValue < 1 << 62 else { throw Self.damaged(path, "a record is damaged") }
                try record(found)
            }
        }
        var splitter = LineSplitter(maximumLineLength: 1 << 20)
        var left = state.bytes
        try performing { try report.seek(toOffset: 0) }
        while left > 0 {
            var read = Data()
            try performing { read = try report.read(upToCount: Int(min(left, 1 << 18))) ?? Data() }
            guard !read.isEmpty else { throw Self.damaged(path, "lines are missing") }
            left -= UInt64(read.count)
            splitter.append(read)
            while let next = splitter.next() {
                guard let (number, uid) = ReportLine.place(splitter.bytes, next.range) else { continue }
                try line(number, uid)
            }
        }
    }

    private func performing(_ body: () throws -> Void) throws(ToolError) {
        do { try body() } catch {
            throw ToolError(
                ToolError.status(ofFile: error, otherwise: .inputOutput),
                "the report \(path) could not be written: \(FileFailure.words(error))")
        }
    }
}
