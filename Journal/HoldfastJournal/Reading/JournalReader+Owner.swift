package import Holdfast

/// The owner of a journal, found without reading it.
extension JournalReader {
    /// The process that uses the journal, for people; nil when it is at rest, or there is none. Needs no key.
    ///
    /// - Throws: ``JournalError`` for a directory that may not be looked at.
    package static func owner(of directory: String) throws(JournalError) -> String? {
        let place = JournalDirectory(directory)
        guard try OwnerLock(reading: place) == nil else { return nil }
        return OwnerLock.owner(of: place)
    }
}
