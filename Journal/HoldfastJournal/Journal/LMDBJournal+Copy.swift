package import Holdfast
package import HoldfastLMDB

/// A journal whose directory is a working copy of what its gate keeps.
extension LMDBJournal {
    /// Makes the directory around a working copy, so that what is missing is no sign of damage: entries come from what was
    /// kept, and the blacklist has a way of its own.
    package static func prepareCopy(_ directory: String) throws(JournalError) {
        let place = JournalDirectory(directory)
        try place.examine(create: true)
        try place.prepare()
        if !Files.exists(place.incomplete) {
            let isWhole = place.dataFiles.allSatisfy { Files.exists($0) }
            if !isWhole { try place.beginMaking() }
        }
        try place.makeDirectories()
    }

    /// Whether the entries of a working copy are sealed, while nobody has it open. Changes nothing.
    ///
    /// - Returns: nil where nothing was ever put into them: whoever opens it first decides.
    /// - Throws: ``JournalError`` with code `wrongKey` where they are sealed, and a key is missing.
    package static func isSealed(copy directory: String, _ keys: JournalKeys?) throws(JournalError) -> Bool? {
        let place = JournalDirectory(directory)
        let finding = try place.find(.entries)
        if try SealSearch(.entries, keys, in: place.path).find(in: finding) != nil { return true }
        return JournalSeals.isNew(.entries, finding) ? nil : false
    }

    /// Refuses a copy that is not the one that was made: an empty one, where somebody has deleted that meanwhile.
    static func requireCopy(
        _ environment: Environment, endingAt number: UInt64, _ path: String
    ) throws(JournalError) {
        let found = try translated("read", path) { () throws(LMDBError) in try WorkingCopy.number(in: environment) }
        guard found != number else { return }
        throw .copyLost("the working copy \(path) was deleted or replaced while it was opened")
    }

    /// The environment of the entries, for whoever copies it while it is open. Not to be written to, nor closed.
    package var entriesEnvironment: Environment { parts.store.environment }

    /// The path of a journal's entries.
    package static func entries(in directory: String) -> String { JournalDirectory(directory).entries }

    /// The bytes in use, as of the last commit.
    package var usedBytes: Int { shared.withLock { shared in shared.figures.usedPages } * pageByteCount }
}
