/// The size and duration of one commit of a journal.
public struct CommitMeasure: Hashable, Sendable {
    /// Appended notifications; repeats are not counted.
    public var entries: Int
    /// Settlements that took effect.
    public var settlements: Int
    /// Bytes of the appended records, approximately: the pages of the tree around them are not counted.
    public var bytes: Int
    /// From the start of the transaction until it was on disk, at the journal's durability level.
    public var duration: Duration
    /// Of ``duration``: writing the changed pages and waiting until the disk has them. Zero for a journal that has no disk.
    public var syncDuration: Duration
    /// Bytes in use by the journal after the commit. Appends are refused at ``limitBytes``.
    public var usedBytes: Int
    /// The journal's limit; `nil` for a journal without one.
    public var limitBytes: Int?

    package init(
        entries: Int = 0, settlements: Int = 0, bytes: Int = 0, duration: Duration = .zero,
        syncDuration: Duration = .zero, usedBytes: Int = 0, limitBytes: Int? = nil
    ) {
        self.entries = entries
        self.settlements = settlements
        self.bytes = bytes
        self.duration = duration
        self.syncDuration = syncDuration
        self.usedBytes = usedBytes
        self.limitBytes = limitBytes
    }
}
