package import Holdfast
import HoldfastLMDB

/// Writes a journal's files anew without their free pages. At rest only: it owns the journal meanwhile.
///
/// Rows stay as they are, byte for byte: marks, flags, the next UID. Each of the two new files is written beside the old one,
/// synced, compared with it row by row, checked in every byte, and then renamed over the old one. A crash leaves the old file
/// or the new one, each with the same rows. The next opening removes an unfinished file.
package enum JournalCompaction {
    /// - Throws: ``JournalError`` with code `ownedByAnotherProcess` (stop it first), `notFound`, `damaged` (then nothing was
    ///   changed), `diskFull` (nothing was changed; it needs room for what is in use), `permissionDenied` or `inputOutput`.
    package static func run(
        directory: String, progress: @escaping (InspectionProgress) -> Void = { _ in }
    ) throws(JournalError) -> CopyReport {
        let place = JournalDirectory(directory)
        try place.refuseIncomplete()
        try place.checkFileSystem()
        let lock = try OwnerLock(owning: place)
        defer { withExtendedLifetime(lock) {} }
        let image = JournalImage(owned: place)
        try place.removeUnfinished()
        let found = try JournalVerification.run(image, progress)
        if let damage = found.damage.first {
            throw .damaged(
                "\(place.path) is damaged (\(damage.file), \(damage.table ?? "file"): \(damage.what)); it was left as it is",
                in: place.path)
        }
        var report = CopyReport(directory: place.path, rows: found.rows, bytesBefore: 0, bytesAfter: 0)
        for part in JournalImage.Part.allCases {
            let (before, after) = try compact(part, of: image, progress)
            report.bytesBefore += before
            report.bytesAfter += after
        }
        return report
    }

    private static func compact(
        _ part: JournalImage.Part, of image: JournalImage, _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) -> (before: Int, after: Int) {
        let place = image.place
        let unfinished = place.unfinished(part)
        do throws(JournalError) {
            let (copy, before) = try image.read(part) { (opened) throws(JournalError) in
                let copy = try FileCopy(of: opened, to: unfinished, progress) { _, _ in nil }
                return (copy, opened.finding.file?.byteCount ?? 0)
            }
            let finding = try translated("read", place.path) { () throws(LMDBError) in try DataFile.find(unfinished) }
            let opened = JournalImage.Opened(
                part: part, directory: place.path, finding: finding, path: unfinished, isInUse: false, goOn: { true })
            let check = FileCheck(opened, VerificationReport(directory: place.path, owner: nil), progress)
            check.run()
            guard check.report.isSound, try FileCopy(reading: opened).digest == copy.digest else {
                throw JournalError(.inputOutput, "what was written to \(unfinished) is not what is read from it")
            }
            try translated("replace", place.path) { () throws(LMDBError) in
                let written = try OpenFile(unfinished, .readWrite)
                try written.takeOwnerAndMode(of: place.path + "/" + part.file)
                try written.sync()
                try Files.rename(unfinished, to: place.path + "/" + part.file)
                try Files.syncDirectory(Files.parent(of: place.path + "/" + part.file))
                try Files.syncDirectory(place.path)
            }
            return (before, copy.byteCount)
        } catch {
            try place.removeUnfinished()
            throw error
        }
    }
}

extension JournalDirectory {
    /// The name of a new data file until it is complete.
    func unfinished(_ part: JournalImage.Part) -> String { path + "/\(part.rawValue).unfinished" }

    /// Removes the files of an interrupted compaction. For the owner.
    func removeUnfinished() throws(JournalError) {
        try translated("clean up", path) { () throws(LMDBError) in
            for part in JournalImage.Part.allCases { try Files.remove(unfinished(part)) }
        }
    }
}
