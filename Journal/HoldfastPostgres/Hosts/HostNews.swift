package import Holdfast

/// What happens while a host opens a journal.
package enum HostNews: Sendable {
    /// It waits, for this reason.
    case waiting(String)
    /// The database had lost the commits behind the first number, and has them again from this host's copy, up to the second.
    case restored(journal: String, from: UInt64, to: UInt64)
    /// The database has other commits than this host's copy. The journal is closed, and another one is opened.
    case setAside(journal: String, JournalError)
}
