/// Decides when a checkpoint is due.
package enum CheckpointRule {
    /// Below which no checkpoint is worth its while.
    package static let leastByteCount = 64 << 20

    /// When the commits behind the last one are longer than the journal itself: then a copy is made in the time that reading
    /// twice the journal takes, and checkpoints write no more than commits do.
    package static func isDue(_ log: LogState, journalByteCount: Int, least: Int = leastByteCount) -> Bool {
        log.logByteCount > max(least, journalByteCount)
    }
}
