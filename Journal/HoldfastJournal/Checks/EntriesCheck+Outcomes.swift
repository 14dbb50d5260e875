import Holdfast
import HoldfastLMDB

/// The state of the check of the log of outcomes.
struct OutcomeLogCheck {
    var bounds: OutcomeLogBounds?
    /// UIDs that have an outcome.
    var ended = UIDSet()
    /// The number that the next block begins with, when none is missing; 0 before the first.
    var next: UInt64 = 0
    /// The index as it should be, of the segment that is being read.
    var index: SegmentIndex?
    /// Of segments whose blocks are all there, what the rows of their indexes are, as one hash.
    var expected: [UInt64: UInt64] = [:]
    /// Of each segment, what they are in the table.
    var found: [UInt64: UInt64] = [:]
    /// Segments that have a summary.
    var summaries: Set<UInt64> = []
    /// Whether a block is missing or cannot be read, so that no index can be judged.
    var hasGap = false
    var readers = 0
}

/// Checks the log of outcomes: its blocks, that none is missing, its index and its readers.
extension EntriesCheck {
    /// The tables of the log, as far as the journal has them.
    var outcomeTables: [String] {
        ["outcomeLog", "outcomeIndex", "outcomeReaders"]
            .filter { name in tables.contains { table in table.name == name } }
    }

    private static let unread = "The outcomes in it are not told, and not found. No notification is affected."
    private static let slow = "Searches may miss outcomes or take longer. Salvage has the index made anew."

    func outcomeBlock(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "outcomeLog", page) }
        let number = key.span.bigEndian64(at: 0)
        switch OutcomeBlockHeader.read(value, key: number) {
        case .failure(let fault):
            outcomeLog.hasGap = true
            outcomeLog.next = 0
            check.add(
                "the block from outcome \(number) on: \(fault.words)", table: "outcomeLog", page: page,
                means: Self.unread)
        case .success(let header):
            if outcomeLog.next != 0, outcomeLog.next != number {
                outcomeLog.hasGap = true
                // No fault of this journal's, if it is a copy that was salvaged: what is gone is gone.
                check.remark(
                    "outcomes \(outcomeLog.next) to \(number &- 1) are missing in the history, as after a salvage")
            }
            outcomeLog.next = header.last &+ 1
            readBlock(header, value, page)
        }
    }

    private func readBlock(_ header: OutcomeBlockHeader, _ value: Span<UInt8>, _ page: UInt64) {
        var scanner = OutcomeScanner(header, value)
        var unreadable = 0
        while true {
            let number = scanner.number
            guard let row = scanner.next(value) else { break }
            outcomeLog.ended.insert(row.uid)
            if row.outcome(number, value, producers: []) == nil { unreadable += 1 }
        }
        if scanner.isBroken || unreadable > 0 {
            check.add(
                "the block from outcome \(header.first) on: "
                    + (scanner.isBroken ? "its lengths do not add up" : "\(unreadable) outcomes make no sense"),
                table: "outcomeLog", page: page, means: Self.unread)
        }
        guard let key = facts?.identityKey else { return }
        let segment = OutcomeBlock.segment(of: header.first)
        if outcomeLog.index?.segment != segment {
            endSegment()
            outcomeLog.index = SegmentIndex(segment, OutcomeHash(key))
        }
        outcomeLog.index?.add(value, header)
    }

    /// The segment that was being read is over.
    private func endSegment() {
        guard let index = outcomeLog.index else { return }
        let (segment, isWhole) = (index.segment, index.outcomes == Int(OutcomeBlock.segmentCount))
        outcomeLog.index = nil
        guard isWhole else { return }
        var sum: UInt64 = 0
        for row in index.rows() { sum &+= Self.hash(row.key.span, row.value.span) }
        outcomeLog.expected[segment] = sum
    }

    private static func hash(_ key: Span<UInt8>, _ value: Span<UInt8>) -> UInt64 {
        XXH64.hash(value, seed: XXH64.hash(key))
    }

    func outcomeIndexRow(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        endSegment()
        guard key.count == 6 else { return badKey(key, "outcomeIndex", page) }
        let (segment, bucket) = (UInt64(key.span.bigEndian32(at: 0)), Int(key.span.bigEndian16(at: 4)))
        do throws(EntryRecord.Fault) {
            if bucket == SegmentSummary.place {
                _ = try SegmentSummary.read(value, segment: segment)
                outcomeLog.summaries.insert(segment)
            } else if let fault = OutcomeBucket.fault(value, key: key.span) {
                throw fault
            }
            outcomeLog.found[segment, default: 0] &+= Self.hash(key.span, value)
        } catch {
            outcomeLog.expected[segment] = nil
            check.add(
                "the index of segment \(segment): \(error.words)", table: "outcomeIndex", page: page, means: Self.slow)
        }
    }

    func outcomeReader(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        outcomeLog.readers += 1
        do throws(EntryRecord.Fault) {
            let reader = try OutcomeReaderRecord.read(value.array, name: key)
            guard let bounds = outcomeLog.bounds, reader.cursor.rawValue > bounds.newest else { return }
            check.add(
                "the reader \(reader.name.debugDescription) is at outcome \(reader.cursor), and the newest is "
                    + "\(bounds.newest)", table: "outcomeReaders", page: page,
                means: "It is not told what ends until then.")
        } catch {
            check.add(
                "the reader \(String(decoding: key, as: UTF8.self).debugDescription): \(error.words)",
                table: "outcomeReaders", page: page, means: "It is told again what it was told already.")
        }
    }

    func checkOutcomes() {
        endSegment()
        guard check.torn.isDisjoint(with: OutcomeTables.names + ["facts"]), !check.isOpening else { return }
        let newest = outcomeLog.next == 0 ? outcomeLog.bounds?.deleted ?? 0 : outcomeLog.next - 1
        let given = outcomeLog.bounds?.newest ?? 0
        if !outcomeLog.hasGap, newest > given {
            check.add(
                "the newest outcome is \(newest), and by the facts \(given)", table: "outcomeLog",
                means: "Numbers may be given twice. No notification is affected.")
        } else if !outcomeLog.hasGap, newest < given {
            check.remark("outcomes \(newest + 1) to \(given) are missing in the history, as after a salvage")
        }
        guard !outcomeLog.hasGap else { return }
        for (segment, sum) in outcomeLog.expected.sorted(by: { $0.key < $1.key })
        where outcomeLog.summaries.contains(segment) && outcomeLog.found[segment] != sum {
            check.add(
                "the index of segment \(segment) is not that of its blocks", table: "outcomeIndex", means: Self.slow)
        }
    }
}
