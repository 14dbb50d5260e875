package import Holdfast
import HoldfastLMDB

/// The report of a backup or a compaction.
package struct CopyReport: Sendable {
    /// The directory of the new journal.
    package var directory: String
    /// The process that was using the original, for people; `nil` when it was at rest.
    package var owner: String?
    /// Rows of each table.
    package var rows: [String: Int]
    /// Bytes of the original's data files, which are allocated ahead of use.
    package var bytesBefore: Int
    /// Bytes of the new data files.
    package var bytesAfter: Int
    /// Rows of the new files that are sealed, by the id of the key; empty for a journal that is not sealed.
    package var sealed: [String: Int] = [:]
}

/// Copies a journal, in use or at rest, into a new journal.
///
/// It is consistent: entries as of one commit, and the blacklist as of one that is not older. Since a bad token is on the
/// blacklist before its entry is settled, the copy never has such an entry settled and its token not blacklisted. The
/// original goes on without it; so the copy's UIDs begin 2^32 further on, and everything unconfirmed in it counts as
/// possibly sent.
package enum JournalBackup {
    /// - Parameters:
    ///   - destination: where the new journal is to be; nothing may be there. It is made under a temporary name beside it,
    ///     with modes 0700 and 0600, synced, looked at in every byte, and then renamed.
    ///   - keys: with which it may be sealed. The copy is sealed with the same ones.
    ///   - limits: for a journal in use, whose file grows by what is written while it is read.
    /// - Throws: ``JournalError`` with code `notFound`, `alreadyExists`, `wrongKey` (also for a journal of which one file alone is
    ///   sealed: its copy would have the rest in the clear), `damaged` (nothing is kept then), `limitReached`
    ///   (a journal in use was pinned for too long), `diskFull`, `permissionDenied` or `inputOutput`.
    package static func run(
        directory: String, destination: String, keys: JournalKeys? = nil,
        limits: InspectionLimits = InspectionLimits(),
        progress: @escaping (InspectionProgress) -> Void = { _ in }
    ) throws(JournalError) -> CopyReport {
        let image = try JournalImage(directory, limits, keys)
        try refuseHalfSealed(image, keys)
        let new = try NewJournal(destination, of: image.place)
        return try new.making { () throws(JournalError) in
            var report = CopyReport(
                directory: new.destination, owner: image.owner, rows: [:], bytesBefore: 0, bytesAfter: 0)
            // Entries first: see above.
            for part in [JournalImage.Part.entries, .blacklist] {
                let copy = try image.read(part) { (opened) throws(JournalError) in
                    report.bytesBefore += opened.finding.file?.byteCount ?? 0
                    return try FileCopy(
                        of: opened, to: new.place.path + "/" + part.file, sealing: opened.seal, progress,
                        change: { (table, value) throws(EntryRecord.Fault) in try CopyRule.apply(table, value) })
                }
                report.bytesAfter += copy.byteCount
                for (table, count) in copy.rows where part == .entries || table != "facts" {
                    report.rows[table] = count
                }
            }
            report.sealed = try new.finish(of: image.place, keys, progress).sealed
            return report
        }
    }

    /// No process that uses a journal has opened one that is sealed by half.
    private static func refuseHalfSealed(_ image: JournalImage, _ keys: JournalKeys?) throws(JournalError) {
        guard image.owner == nil else { return }
        let sealing = try JournalSeals(reading: image.place, keys).sealing(of: image.place)
        if case .half = sealing { throw .halfSealed(image.place.path, sealing) }
    }
}
