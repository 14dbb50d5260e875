/// The changes of one commit. Opaque outside of this package.
public struct CommitReport: Sendable {
    package struct Lane: Hashable, Sendable {
        package let id: LaneID
        /// The lane's greatest UID on disk.
        package let lastUID: UID
        /// The send mark on disk.
        package let mark: UID
        /// Whether entries of the lane are scheduled, perhaps since this commit.
        package var hasSchedules: Bool

        package init(id: LaneID, lastUID: UID, mark: UID, hasSchedules: Bool = false) {
            self.id = id
            self.lastUID = lastUID
            self.mark = mark
            self.hasSchedules = hasSchedules
        }
    }

    /// Lanes whose last UID or mark changed.
    package let lanes: [Lane]
    /// Producers whose last unconfirmed entry was settled by this commit.
    package let drained: [ProducerID]
    /// The newest outcome of the log.
    package let newestOutcome: OutcomeCursor
    /// The number of outcomes that a reader that is waited for has not read.
    package let unreadOutcomes: Int
    /// Whether the log has new outcomes, or a reader of it has come, moved or gone: what waiting readers may wait for.
    package let changesOutcomes: Bool
    /// Why the journal must be reopened. Reported once, since a commit may hold nothing but marks, and then no request gets
    /// the error.
    package let failure: JournalError?
    /// The size and duration of the commit; `nil` for one that failed.
    package let measure: CommitMeasure?

    package init(
        lanes: [Lane] = [], drained: [ProducerID] = [], newestOutcome: OutcomeCursor = .start, unreadOutcomes: Int = 0,
        changesOutcomes: Bool = false, failure: JournalError? = nil, measure: CommitMeasure? = nil
    ) {
        self.lanes = lanes
        self.drained = drained
        self.newestOutcome = newestOutcome
        self.unreadOutcomes = unreadOutcomes
        self.changesOutcomes = changesOutcomes
        self.failure = failure
        self.measure = measure
    }
}
