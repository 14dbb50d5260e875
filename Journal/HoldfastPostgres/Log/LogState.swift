/// The bounds of a journal's log.
package struct LogState: Hashable, Sendable {
    /// The number of the last commit; 0 before the first.
    package var last: UInt64
    /// The commit of which the last complete checkpoint is; 0 for the empty one that a new journal has.
    package var checkpoint: UInt64
    /// The checksum of that commit's effects.
    package var checkpointSum: UInt64
    package var checkpointChunks: Int
    /// The bytes of the commits that are kept, in their pages.
    package var logByteCount: Int
    package var checkpointByteCount: Int
    /// Whether nothing needless is there.
    package var isTrimmed: Bool
    /// The checksum of the commit that was asked for; `nil` where the log does not have it.
    package var sum: UInt64?

    package init(
        last: UInt64, checkpoint: UInt64, checkpointSum: UInt64, checkpointChunks: Int, logByteCount: Int = 0,
        checkpointByteCount: Int = 0, isTrimmed: Bool = true, sum: UInt64? = nil
    ) {
        self.last = last
        self.checkpoint = checkpoint
        self.checkpointSum = checkpointSum
        self.checkpointChunks = checkpointChunks
        self.logByteCount = logByteCount
        self.checkpointByteCount = checkpointByteCount
        self.isTrimmed = isTrimmed
        self.sum = sum
    }
}
