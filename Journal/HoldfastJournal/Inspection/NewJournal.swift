import Foundation
import Holdfast
import HoldfastLMDB

/// A journal in the making, under a temporary name beside its final one, so that no half-made journal is ever opened.
struct NewJournal {
    let destination: String
    let place: JournalDirectory
    /// Locked until it has its name, so that it is not removed as the remains of a killed process.
    private let directory: OpenFile

    /// Makes the directories, and removes unfinished copies beside them whose process was killed. When root makes them,
    /// they and all in them belong to the owner of the original.
    ///
    /// - Throws: `alreadyExists` when something has its final name.
    init(_ destination: String, of original: JournalDirectory) throws(JournalError) {
        let final = JournalDirectory(destination).path
        self.destination = final
        place = JournalDirectory(UnfinishedCopies.name(for: final))
        guard !Files.exists(final) else {
            throw JournalError(.alreadyExists, "\(final) is there already: name a directory that is not")
        }
        UnfinishedCopies.remove(beside: final)
        let place = place
        directory = try translated("make", place.path) { () throws(LMDBError) in
            guard try Files.makeDirectory(place.path) else {
                throw LMDBError(.alreadyExists, "mkdir", path: place.path)
            }
            let directory = try OpenFile(place.path, .directory)
            // Shared: the check of every byte locks it as well.
            guard try directory.tryLock(exclusive: false) else { throw LMDBError(.noEntry, "flock", path: place.path) }
            try directory.giveToOwner(ofDirectory: original.path)
            return directory
        }
        try place.checkFileSystem()
        try place.makeDirectories()
        // A reader at rest locks it.
        try translated("make", place.path) { () throws(LMDBError) in _ = try OpenFile(place.ownerLock, .create) }
    }

    /// Checks every byte of it, makes it durable, and gives it its name.
    ///
    /// - Parameter keys: with which it may be sealed.
    /// - Returns: what was found.
    func finish(
        of original: JournalDirectory, _ keys: JournalKeys?, _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) -> VerificationReport {
        let report = try JournalVerification.run(directory: place.path, keys: keys, progress: progress)
        if let damage = report.damage.first {
            throw .damaged(
                "the copy is not sound, so it was not kept (\(damage.file), \(damage.table ?? "file"): \(damage.what))",
                in: original.path)
        }
        try place.sync()
        try translated("name", destination) { () throws(LMDBError) in
            guard !Files.exists(destination) else {
                throw LMDBError(.alreadyExists, "rename", path: destination)
            }
            try Files.rename(place.path, to: destination)
            try Files.syncDirectory(Files.parent(of: destination))
        }
        directory.unlock()
        return report
    }

    /// Runs `body`, and leaves nothing behind when it fails.
    func making<R>(_ body: () throws(JournalError) -> R) throws(JournalError) -> R {
        do throws(JournalError) {
            return try body()
        } catch {
            remove(place.path)
            throw error
        }
    }

    /// Removes what it can. The rest has a name that marks it as unfinished.
    private func remove(_ path: String) {
        do { try FileManager.default.removeItem(atPath: path) } catch {}
    }
}
