package import Holdfast
import HoldfastLMDB

/// Writes a journal's files anew without their free pages. At rest only: it owns the journal meanwhile.
///
/// Rows stay as they are, byte for byte: marks, flags, the next UID. Each of the two new files is written beside the old one,
/// synced, compared with it row by row, checked in every byte, and then renamed over the old one. A crash leaves the old file
/// or the new one, each with the same rows. The next opening removes an unfinished file.
package enum JournalCompaction {
    /// - Parameters:
    ///   - keys: with which the journal may be sealed. All rows are sealed with the first of them afterwards, also those of a
    ///     journal that was not sealed.
    ///   - unseals: writes the rows in the clear instead.
    /// - Throws: ``JournalError`` with code `ownedByAnotherProcess` (stop it first), `notFound`, `wrongKey` or `damaged` (then
    ///   nothing was changed), `diskFull` (nothing was changed; it needs room for what is in use), `permissionDenied` or
    ///   `inputOutput`.
    package static func run(
        directory: String, keys: JournalKeys? = nil, unseals: Bool = false,
        progress: @escaping (InspectionProgress) -> Void = { _ in }
    ) throws(JournalError) -> CopyReport {
        let place = JournalDirectory(directory)
        try place.refuseIncomplete()
        try place.checkFileSystem()
        try place.refuseLinks()
        let lock = try OwnerLock(owning: place)
        defer { withExtendedLifetime(lock) {} }
        let image = JournalImage(owned: place, keys)
        // Before anything is removed: without its keys nothing is changed.
        _ = try JournalSeals(reading: place, keys)
        try refuseCopy(place, keys)
        try place.removeUnfinished()
        let found = try JournalVerification.run(image, progress)
        if let damage = found.damage.first {
            throw .damaged(
                "\(place.path) is damaged (\(damage.file), \(damage.table ?? "file"): \(damage.what)); it was left as it is",
                in: place.path)
        }
        var report = CopyReport(directory: place.path, rows: found.rows, bytesBefore: 0, bytesAfter: 0)
        for part in JournalPart.allCases {
            let copied = try compact(part, of: image, unseals ? nil : keys, progress)
            report.bytesBefore += copied.before
            report.bytesAfter += copied.after
            report.sealed.merge(copied.sealed, uniquingKeysWith: +)
        }
        return report
    }

    /// A copy of a journal in a database is what that has: its log keeps the rows as they were.
    private static func refuseCopy(_ place: JournalDirectory, _ keys: JournalKeys?) throws(JournalError) {
        guard let file = try place.find(.entries).file else { return }
        let walk = FileWalk(file) { _ in
            true
        } fault: { _ in
        }
        guard walk.tables().contains(where: { $0.name == WorkingCopy.tableName }) else { return }
        let seals = try JournalSeals(reading: place, keys)
        guard keys != nil || seals[.entries] != nil else { return }
        throw JournalError(
            .invalidEntry,
            "\(place.path) is this host's copy of a journal in a database, whose log has the rows as they were: sealing the "
                + "copy would not seal that. Only a journal that begins with a key is sealed there.")
    }

    private static func compact(
        _ part: JournalPart, of image: JournalImage, _ keys: JournalKeys?,
        _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) -> (before: Int, after: Int, sealed: [String: Int]) {
        let place = image.place
        let unfinished = place.unfinished(part)
        do throws(JournalError) {
            var target: JournalSeal?
            var isSealed = false
            let (copy, before) = try image.read(part) { (opened) throws(JournalError) in
                // The recipients stay hidden by the same key, so that their order stays.
                target = try keys.map { (keys) throws(JournalError) in
                    try JournalSeal(part, keys, listed: nil, index: opened.seal?.index)
                }
                isSealed = target != nil || opened.seal != nil
                let copy = try FileCopy(
                    of: opened, to: unfinished, sealing: target, renews: true, keepsPlace: true, progress
                ) { _, _ in
                    nil
                }
                return (copy, opened.finding.file?.byteCount ?? 0)
            }
            let finding = try translated("read", place.path) { () throws(LMDBError) in try DataFile.find(unfinished) }
            let opened = JournalImage.Opened(
                part: part, directory: place.path, finding: finding, path: unfinished, isInUse: false, seal: target,
                goOn: { true })
            let check = FileCheck(opened, VerificationReport(directory: place.path, owner: nil), progress)
            check.run()
            guard check.report.isSound,
                try FileCopy(reading: opened, leavingOutFacts: isSealed).digest == copy.digest
            else {
                throw JournalError(.inputOutput, "what was written to \(unfinished) is not what is read from it")
            }
            try put(unfinished, part, place)
            return (before, copy.byteCount, check.report.sealed)
        } catch {
            try place.removeUnfinished()
            throw error
        }
    }

    /// Puts a file that is complete into its place.
    private static func put(
        _ unfinished: String, _ part: JournalPart, _ place: JournalDirectory
    ) throws(JournalError) {
        try translated("replace", place.path) { () throws(LMDBError) in
            let written = try OpenFile(unfinished, .readWrite)
            try written.takeOwnerAndMode(of: place.path + "/" + part.file)
            try written.sync()
            try Files.rename(unfinished, to: place.path + "/" + part.file)
            try Files.syncDirectory(Files.parent(of: place.path + "/" + part.file))
            try Files.syncDirectory(place.path)
        }
    }
}

extension JournalDirectory {
    /// The name of a new data file until it is complete.
    func unfinished(_ part: JournalImage.Part) -> String { path + "/\(part.rawValue).unfinished" }

    /// Removes the files of an interrupted compaction. For the owner.
    func removeUnfinished() throws(JournalError) {
        try translated("clean up", path) { () throws(LMDBError) in
            for part in JournalPart.allCases {
                try Files.remove(unfinished(part))
                try RowSorter.clear(unfinished(part) + FileCopy.sorting)
            }
        }
    }
}
