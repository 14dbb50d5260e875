package import Holdfast
package import HoldfastPostgres

/// Whether a host of a fleet can have its working copies in a directory: what `serve`, `serve --check` and `doctor` refuse alike.
/// Changes nothing.
package enum CopiesCheck {
    /// Finds what no waiting mends.
    ///
    /// - Returns: whether the directory is there; else it can be made.
    /// - Throws: ``JournalError`` that says what is in the way.
    @discardableResult
    static func examinePlace(_ path: String) throws(JournalError) -> Bool {
        let isThere = try HostDirectory.examine(path)
        try HostDirectory.examineFileSystem(path)
        try FormerJournals.refuse(in: path)
        return isThere
    }

    /// The same, a process that uses the directory, what the opening of the host's own copy finds, and a full file system, for
    /// which a service waits.
    ///
    /// - Parameter isOwn: whether the process that uses the directory is the service itself, which would be started anew.
    @discardableResult
    package static func examine(
        _ path: String, isOwn: (HostDirectory.User) -> Bool
    ) throws(JournalError) -> Bool {
        let isThere = try examinePlace(path)
        if let user = HostDirectory.user(of: path), !isOwn(user) { throw HostDirectory.inUse(path) }
        try HostDirectory.examineOwnCopy(path)
        try HostDirectory.examineRoom(path)
        return isThere
    }

    /// Finds out whether the keys of a configuration are those of the host's own copy, as far as there is one, and they can be read.
    ///
    /// - Throws: ``JournalError`` with code `wrongKey`.
    package static func examineSeal(_ journal: JournalSettings) throws(JournalError) {
        // The service alone is given a credential of systemd's.
        guard journal.withheldCredential == nil else { return }
        try HostDirectory.examineOwnSeal(journal.copies, try journal.keys())
    }
}
