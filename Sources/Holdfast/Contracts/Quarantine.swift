/// An order to move unreadable entries of one lane into quarantine. Opaque outside of this package.
public struct QuarantineOrder: Sendable {
    package struct Item: Hashable, Sendable {
        package let entry: UnreadableEntry
        /// Whether an attempt of it may have reached the service.
        package let isPossiblySent: Bool

        package init(_ entry: UnreadableEntry, isPossiblySent: Bool) {
            self.entry = entry
            self.isPossiblySent = isPossiblySent
        }
    }

    package let lane: LaneID
    package var items: [Item]
    /// The time of the order, by the wall clock.
    package let at: WallTime

    package init(lane: LaneID, items: [Item], at: WallTime) {
        self.lane = lane
        self.items = items
        self.at = at
    }
}

/// An entry in quarantine: accepted, without a terminal outcome, and with a record that could not be read. The record is
/// kept whole, and delays no other entry.
public struct QuarantinedEntry: Hashable, Sendable {
    /// The entry's UID.
    public let uid: UID
    /// The lane; `nil` if the journal does not know its number any more.
    public let lane: LaneKey?
    /// The name of the Producer; empty if the record does not give it.
    public let producer: String
    /// Why the record could not be read when the entry was moved.
    public let fault: RecordFault
    /// Whether an attempt of it may have reached the service.
    public let isPossiblySent: Bool
    /// When the entry was moved, by this machine's wall clock.
    public let quarantinedAt: WallTime
    /// The record's bytes, as found in the journal.
    public let record: [UInt8]

    package init(
        uid: UID, lane: LaneKey?, producer: String, fault: RecordFault, isPossiblySent: Bool, quarantinedAt: WallTime,
        record: [UInt8]
    ) {
        self.uid = uid
        self.lane = lane
        self.producer = producer
        self.fault = fault
        self.isPossiblySent = isPossiblySent
        self.quarantinedAt = quarantinedAt
        self.record = record
    }
}
