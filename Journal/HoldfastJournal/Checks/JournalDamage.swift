package import Holdfast

/// One fault in a journal's files.
package struct JournalDamage: Hashable, Sendable {
    /// The data file, below the journal's directory: `entries/data.mdb` or `blacklist/data.mdb`.
    package var file: String
    /// The page, from 0; `nil` when it is no single page.
    package var page: UInt64?
    /// The table, or `free list`, or `list of tables`.
    package var table: String?
    /// The number of the lane.
    package var lane: UInt32?
    /// The entry's UID.
    package var uid: UID?
    /// The fault.
    package var what: String
    /// The consequence for the owner of the journal.
    package var meaning: String
}
