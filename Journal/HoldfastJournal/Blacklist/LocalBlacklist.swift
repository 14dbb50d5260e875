package import Holdfast
import HoldfastLMDB

/// Opens the copy of a blacklist that lies elsewhere, in a directory of its own.
///
/// The copy is no journal: a damaged one is thrown away, and filled again by whoever has the rows.
package enum LocalBlacklist {
    /// Opens the copy, or makes an empty one.
    ///
    /// - Parameters:
    ///   - directory: made with mode 0700; its parent exists. One process owns it.
    ///   - anew: whether the copy that may be there is thrown away. This process may still read it, if it was given up
    ///     (``BlacklistCopy/giveUp()``).
    /// - Throws: as `LMDBJournal` does for a journal there, but for damage.
    package static func open(
        _ directory: String, _ options: JournalOptions = JournalOptions(), anew: Bool = false
    ) throws(JournalError) -> any BlacklistCopy {
        let place = JournalDirectory(directory)
        if let parent = place.missingParent {
            throw JournalError(
                .notFound, "cannot make \(place.path): there is no directory \(parent) yet; make it first")
        }
        try clear(place)
        try place.checkFileSystem()
        try place.prepare()
        let lock = try OwnerLock(owning: place)
        var isWhole = try anew ? false : isWhole(place, options)
        // One that is to be sealed is filled again, too.
        if isWhole != false, options.keys != nil {
            let isSealed = try isSealed(place, options)
            if !isSealed { isWhole = false }
        }
        if isWhole == false { try beginAnew(place) }
        let seals = try JournalSeals(opening: place, options.keys, [.blacklist])
        let opened = try LMDBBlacklist(
            opening: place, options, seals[.blacklist], damage: isWhole == nil ? nil : 0, lock: lock)
        try translated("sync", place.path) { () throws(LMDBError) in
            for directory in [place.blacklist, place.path, Files.parent(of: place.path)] {
                try Files.syncDirectory(directory)
            }
        }
        try place.finishMaking()
        // Nothing of format 1 opens a copy.
        opened.start(raiseFormat: {})
        return opened
    }

    /// The file with all of the copy in a directory.
    package static func dataFile(in directory: String) -> String { JournalDirectory(directory).blacklist + "/data.mdb" }

    /// - Returns: nil for one that is too large to be looked at before it is opened.
    private static func isWhole(_ place: JournalDirectory, _ options: JournalOptions) throws(JournalError) -> Bool? {
        let file = dataFile(in: place.path)
        guard !Files.exists(place.incomplete), Files.exists(file) else { return false }
        let verdict = try translated("look at", place.path) { () throws(LMDBError) in try DataFileCheck.check(file) }
        guard case .sound = verdict else { return false }
        try translated("sync", place.path) { () throws(LMDBError) in try DataFileCheck.secure(file) }
        let seal: JournalSeal?
        do throws(JournalError) {
            seal = try SealSearch(.blacklist, options.keys, in: place.path).find(in: try place.find(.blacklist))
        } catch {
            // Whoever has the rows fills it again, also without the key that this copy needs.
            guard error.code == .wrongKey else { throw error }
            return false
        }
        return try OpeningCheck.isWholeBlacklist(in: place, seal, greatestPageCount: options.pagesCheckedAtOpening)
    }

    private static func isSealed(_ place: JournalDirectory, _ options: JournalOptions) throws(JournalError) -> Bool {
        try SealSearch(.blacklist, options.keys, in: place.path).find(in: try place.find(.blacklist)) != nil
    }

    /// Moves away what is in the place of the directory and is none: a file, or a link that leads nowhere.
    private static func clear(_ place: JournalDirectory) throws(JournalError) {
        let isThere = Files.isLink(place.path) || Files.exists(place.path)
        guard isThere, !Files.isDirectory(place.path) else { return }
        // Under a name that nothing has, such as what was moved away before.
        var (other, number) = (place.path + ".replaced", 1)
        while Files.isLink(other) || Files.exists(other) {
            number += 1
            other = "\(place.path).replaced-\(number)"
        }
        try translated("move away", place.path) { () throws(LMDBError) in try Files.rename(place.path, to: other) }
    }

    /// Until the copy is opened once, a file says that it is not whole.
    private static func beginAnew(_ place: JournalDirectory) throws(JournalError) {
        try translated("make", place.path) { () throws(LMDBError) in
            let marker = try OpenFile(place.incomplete, .create)
            try marker.sync()
            try Files.syncDirectory(place.path)
            _ = try Files.makeDirectory(place.blacklist, adopting: true)
            try Environment.remove(from: place.blacklist)
        }
    }
}
