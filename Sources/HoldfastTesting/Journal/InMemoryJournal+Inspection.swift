public import Holdfast

/// What tests look at. Not the contract's: it answers also where the contract's reads fail.
extension InMemoryJournal {
    /// One unconfirmed entry, as it is on disk.
    public struct Entry: Hashable, Sendable {
        /// The entry's UID, as its receipt gave it.
        public let uid: UID
        /// The lane in which it waits.
        public let lane: LaneKey
        /// The name of the Producer.
        public let producer: String
        /// The number of attempts so far.
        public let attempts: Int
        /// By the entry's record alone; one at or below its lane's mark may have been sent as well.
        public let isFlaggedPossiblySent: Bool
        /// Nil when it is not deferred.
        public let deferredUntil: WallTime?
        /// The time from which it may be delivered; nil when it is not scheduled.
        public let scheduledFor: WallTime?
        /// As it was accepted.
        public let notification: PushNotification
    }

    /// All unconfirmed entries, deferred ones included, by UID.
    public var entries: [Entry] {
        let disk = state.withLock(\.disk)
        var entries: [Entry] = []
        for (_, lane) in disk.lanes {
            entries += lane.entries.all.compactMap { Self.entry($0.uid, $0.value, due: nil, lane.key, disk) }
            entries += lane.deferred.all.compactMap {
                Self.entry($0.uid, $0.entry.record, due: $0.entry.due, lane.key, disk)
            }
        }
        return entries.sorted { $0.uid < $1.uid }
    }

    private static func entry(
        _ uid: UID, _ record: InMemoryDisk.Record, due: WallTime?, _ lane: LaneKey, _ disk: InMemoryDisk
    ) -> Entry? {
        record.notification.map { notification in
            Entry(
                uid: uid, lane: lane, producer: disk.producer(record.producer)?.name ?? "",
                attempts: Int(record.attempts), isFlaggedPossiblySent: record.isPossiblySent,
                deferredUntil: due.flatMap { $0.isScheduled ? nil : $0 },
                scheduledFor: due.flatMap(ScheduledPlace.time), notification: notification)
        }
    }

    /// UIDs that are unconfirmed and not deferred, ascending, of all lanes.
    public var unconfirmedUIDs: [UID] {
        state.withLock { state in state.disk.laneList.flatMap { $0.entries.all.map(\.uid) }.sorted() }
    }

    /// The send marks on disk.
    public var marks: [LaneKey: UID] {
        state.withLock { state in
            Dictionary(state.disk.laneList.map { ($0.key, $0.mark) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Rejected notifications, by UID.
    public var rejections: [UID: RejectionCause] {
        state.withLock { state in
            Dictionary(
                state.disk.rejections.all.map { ($0.uid, $0.value.cause) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The log of outcomes, in the order in which they ended.
    public var allOutcomes: [Outcome] { state.withLock { $0.disk.outcomes.all } }

    /// The counts of all notifications since the journal was made.
    public var totals: JournalTotals { state.withLock(\.disk.totals) }

    /// Recipients, topics and collapse ids of which the newest entry wins, as long as one of them has not ended.
    package var newestCount: Int { state.withLock(\.disk.newest.count) }

    /// The UID that the next entry is given.
    public var nextUID: UID { UID(state.withLock(\.disk.nextUID)) }
}
