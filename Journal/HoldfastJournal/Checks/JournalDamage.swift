public import Holdfast

/// One thing that is wrong with a journal's files.
public struct JournalDamage: Hashable, Sendable {
    /// The data file, below the journal's directory: `entries/data.mdb` or `blacklist/data.mdb`.
    public var file: String
    /// The page, from 0; nil where it is no single one.
    public var page: UInt64?
    /// The table, or `free list`, or `list of tables`.
    public var table: String?
    /// The number of the lane.
    public var lane: UInt32?
    public var uid: UID?
    /// What is wrong.
    public var what: String
    /// What it means for whoever owns the journal.
    public var meaning: String
}
