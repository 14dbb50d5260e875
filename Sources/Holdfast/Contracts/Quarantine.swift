/// Unreadable entries of one lane that are to be moved aside.
public struct QuarantineOrder: Sendable {
    package struct Item: Hashable, Sendable {
        package let entry: UnreadableEntry
        /// An attempt of it may have reached the service.
        package let isPossiblySent: Bool

        package init(_ entry: UnreadableEntry, isPossiblySent: Bool) {
            self.entry = entry
            self.isPossiblySent = isPossiblySent
        }
    }

    package let lane: LaneID
    package var items: [Item]
    /// By the wall clock.
    package let at: WallTime

    package init(lane: LaneID, items: [Item], at: WallTime) {
        self.lane = lane
        self.items = items
        self.at = at
    }
}

/// An entry in quarantine: accepted, without a terminal outcome, and with a record that could not be read. It is kept
/// whole, and holds up nothing.
public struct QuarantinedEntry: Hashable, Sendable {
    public let uid: UID
    /// `nil` when the journal does not know the lane's number any more.
    public let lane: LaneKey?
    /// The name of the Producer, as far as the record says; empty when it does not.
    public let producer: String
    public let fault: RecordFault
    /// An attempt of it may have reached the service.
    public let isPossiblySent: Bool
    public let quarantinedAt: WallTime
    /// The record's bytes as they lay in the journal.
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
