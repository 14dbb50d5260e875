/// How much one commit of a journal was, and how long it took.
public struct CommitMeasure: Hashable, Sendable {
    /// Notifications that were appended; repeats are not.
    public var entries: Int
    /// Settlements that took effect.
    public var settlements: Int
    /// Bytes of the records that were appended, about: the tree around them is not counted. 0 where nothing was.
    public var bytes: Int
    /// From taking up what waited until it was on disk, at the journal's durability level.
    public var duration: Duration
    /// Bytes in use by the journal after the commit; what appends may fill is ``JournalStatus/limitBytes``.
    public var usedBytes: Int

    package init(
        entries: Int = 0, settlements: Int = 0, bytes: Int = 0, duration: Duration = .zero, usedBytes: Int = 0
    ) {
        self.entries = entries
        self.settlements = settlements
        self.bytes = bytes
        self.duration = duration
        self.usedBytes = usedBytes
    }
}
