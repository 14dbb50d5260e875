internal import Holdfast
internal import HoldfastJournal

/// How a host finds out whether its keys are those of a journal.
extension HostJournals {
    /// The keys with which a journal is opened, whose copy is at the end of its log. Changes nothing.
    ///
    /// A journal is sealed from its beginning or not at all. Another host's journal that is not sealed is delivered as it is, so
    /// that a fleet in which some hosts have keys already loses nothing.
    ///
    /// - Parameter isOwn: whether this host accepts into it.
    /// - Throws: ``JournalError`` with code `wrongKey` where it is sealed and a key is missing, or where it is this host's own, is
    ///   not sealed, and a key was given.
    func keys(for copy: CopyPlace, of place: ListedName, isOwn: Bool) throws(JournalError) -> JournalKeys? {
        let keys = terms.options.keys
        guard try LMDBJournal.isSealed(copy: copy.directory, keys) == false, keys != nil else { return keys }
        if isOwn { throw .ownNotSealed(place.name) }
        return nil
    }
}

extension JournalError {
    /// A host has a key, and its own journal is not sealed.
    static func ownNotSealed(_ name: String) -> JournalError {
        JournalError(
            .wrongKey,
            "journal \(name) in PostgreSQL is this host's and is not sealed, and a key was given (`journal.key-file`). Nothing was "
                + "changed. It can't be sealed any more: start this host without the key, let what waits be delivered, and then "
                + "begin a journal with the key under another name (`journal.host`)")
    }
}
