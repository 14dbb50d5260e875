import Holdfast
import HoldfastLMDB

/// The part of the log of outcomes that a salvage has found.
struct SalvagedLog {
    private var bounds = OutcomeLogBounds()
    private var first: UInt64 = .max
    private var newest: UInt64 = 0
    private var hasReaders = false
    /// Whether the bounds could be read.
    private var hasBounds = false
    /// Outcomes that were found.
    private var count: UInt64 = 0

    /// Whether there is anything in it.
    var isThere: Bool { newest > 0 || bounds.newest > 0 || hasReaders }

    /// Takes the bounds, if they can be read; else they are made anew.
    mutating func take(_ value: [UInt8]) {
        do throws(EntryRecord.Fault) {
            bounds = try OutcomeLogBounds(value)
            hasBounds = true
        } catch {}
    }

    /// - Parameter old: the block in whose place it is put.
    mutating func take(_ header: OutcomeBlockHeader, insteadOf old: OutcomeBlockHeader? = nil) {
        count += UInt64(header.count - (old?.count ?? 0))
        first = min(first, header.first)
        newest = max(newest, header.last)
    }

    mutating func takeReader() { hasReaders = true }

    /// Whether a block is one of those that were deleted.
    func isDeleted(_ header: OutcomeBlockHeader) -> Bool { header.last <= bounds.deleted }

    /// The bounds of the new log, whose index is made anew.
    ///
    /// If the old bounds can be read, they say which number was given last. Else the next one is beyond any that can have been
    /// given.
    ///
    /// - Parameter isTorn: whether newer outcomes may be lost, whose numbers are not to be given again.
    func newBounds(isTorn: Bool) -> OutcomeLogBounds {
        var new = bounds
        new.newest = max(bounds.newest, newest)
        if isTorn, !hasBounds, new.newest > 0 {
            new.newest = OutcomeBlock.first(of: OutcomeBlock.segment(of: new.newest) + 1) - 1
        }
        if first < .max {
            new.deleted = min(max(bounds.deleted, first - 1), first - 1)
        } else {
            new.deleted = new.newest
        }
        new.unindexed = OutcomeBlock.segment(of: new.deleted + 1)
        new.lost = new.newest - new.deleted - min(count, new.newest - new.deleted)
        return new
    }
}

extension SalvagedLog {
    /// The number of outcomes that the damaged journal had, or may have had, and the new one lacks.
    func lost(_ new: OutcomeLogBounds) -> Int {
        let deleted = hasBounds ? bounds.deleted : new.deleted
        let there = count + (hasBounds ? bounds.lost : 0)
        return Int(clamping: new.newest - deleted - min(there, new.newest - deleted))
    }

    /// The lost outcomes and the new bounds, in words for operators.
    func words(_ lost: Int, _ new: OutcomeLogBounds) -> String {
        let outcomes = lost == 1 ? "1 outcome" : "\(lost) outcomes"
        let figures =
            hasBounds
            ? "\(outcomes) of the history are lost, and \(count) are there."
            : "The figures of the history are lost: \(count) outcomes are there, and up to \(outcomes) are lost."
        return figures + " Cursors stay, the newest is \(new.newest), and readers are told of the gap."
    }
}

/// The log of outcomes, block by block. Its index is left behind: the next opening begins to make it anew.
extension EntriesSalvage {
    func collectOutcomes() throws(JournalError) {
        // A journal that no newer Holdfast has opened has no such tables, which is no hole.
        try walk(["outcomeLog", "outcomeReaders"].filter(hasTable)) { (table, key, value) throws(JournalError) in
            do throws(EntryRecord.Fault) {
                if table == "outcomeReaders" {
                    _ = try OutcomeReaderRecord.read(value, name: key)
                    self.outcomeLog.takeReader()
                } else {
                    guard key.count == 8 else { throw .damaged("it is no row of this table") }
                    let header = try OutcomeBlockHeader.read(value.span, key: key.span.bigEndian64(at: 0)).get()
                    self.note(header, value)
                }
            } catch {
                self.drop(table)
                return self.holes.add(table, .only(key))
            }
            try self.keep(table, key, value)
        }
    }

    private func note(_ header: OutcomeBlockHeader, _ block: [UInt8]) {
        outcomeLog.take(header)
        noteEnds(header, block)
    }

    private func noteEnds(_ header: OutcomeBlockHeader, _ block: [UInt8]) {
        var scanner = OutcomeScanner(header, block.span)
        while let row = scanner.next(block.span) {
            ended.insert(row.uid)
            greatestUID = max(greatestUID, row.uid)
        }
    }

    /// A block that was found outside of the trees: of several the one with most outcomes. Whatever it is, its
    /// notifications have ended.
    func takeBlock(_ header: OutcomeBlockHeader, _ block: [UInt8]) throws(JournalError) {
        let key = Key.uid(header.first).span.array
        noteEnds(header, block)
        guard holes.contains("outcomeLog", key), !outcomeLog.isDeleted(header) else { return }
        if let old = try target.get("outcomeLog", key) {
            let oldHeader = OutcomeBlockHeader.unchecked(old.span)
            if oldHeader.count < header.count {
                try target.put("outcomeLog", key, block)
                outcomeLog.take(header, insteadOf: oldHeader)
            }
            return
        }
        outcomeLog.take(header)
        try restore("outcomeLog", key, block)
    }

    func finishOutcomes() throws(JournalError) {
        guard outcomeLog.isThere else { return }
        let bounds = outcomeLog.newBounds(isTorn: holes.has("outcomeLog"))
        try target.put("facts", OutcomeTables.boundsKey, bounds.bytes)
        report.lostOutcomes = outcomeLog.lost(bounds)
        if report.lostOutcomes > 0 { report.remarks.append(outcomeLog.words(report.lostOutcomes, bounds)) }
    }
}
