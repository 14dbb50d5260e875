/// Notifications to append in one commit, packed by the submitter's thread. Opaque outside of this package.
public struct Submission: Sendable {
    package struct Item: Sendable {
        package let lane: LaneID
        let offset: UInt32
        let count: UInt32

        /// The range of its packed notification in ``Submission/bytes``.
        package var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }

        package init(lane: LaneID, range: Range<Int>) {
            self.lane = lane
            offset = UInt32(range.lowerBound)
            count = UInt32(range.count)
        }
    }

    /// The Producer that submits.
    package var producer: ProducerID
    /// The time of acceptance, by the wall clock. The age of ``identities`` counts from it.
    package var acceptedAt: WallTime
    /// The earliest possible present time, from an engine that trusts its clock. It becomes the journal's
    /// ``JournalService/wallTimeAtOpen`` at the next opening, which reveals a clock that was set back. `nil` leaves that
    /// unchanged: from operators, and from an engine that has distrusted its clock since its start.
    package var earliestTime: WallTime?
    /// Packed notifications side by side. See ``PackedNotification``.
    package var bytes: [UInt8]
    package var items: [Item]
    /// The identities of items whose sender chose their `apns-id`, by which repeats are recognised. Ascending by index.
    package var identities: [(index: Int, identity: Identity)]
    /// Identities to look up only: of notifications that are refused unless the journal took them before. The answers are in
    /// ``Appended/known``.
    package var inquiries: [Identity]
    /// The rejections of items that an operator sends again, ascending by index. Each rejection is removed in the same commit,
    /// and its remembered identity becomes the entry's. If it is gone already, the item is left out (``Appended/gone``).
    package var retries: [(index: Int, rejection: UID)]
    /// The histories of items that were entries of another journal before, ascending by index. Not for items with an identity.
    package var histories: [(index: Int, history: EntryHistory)]
    /// The times that items are scheduled for, ascending by index: those go among the scheduled entries. Not with ``retries`` or
    /// ``histories``.
    package var schedules: [(index: Int, time: WallTime)]
    /// A note that becomes durable in the same commit, such as how far a file was imported.
    package var note: (name: String, value: [UInt8])?
    /// The rows of the items in the queue that the journal shares with applications, for a journal that has one. They are
    /// taken out of it in the same commit.
    package var taking: [QueueRow] = []

    package init(
        producer: ProducerID, acceptedAt: WallTime, earliestTime: WallTime? = nil, bytes: [UInt8] = [],
        items: [Item] = [], identities: [(index: Int, identity: Identity)] = [], inquiries: [Identity] = [],
        retries: [(index: Int, rejection: UID)] = [], histories: [(index: Int, history: EntryHistory)] = [],
        schedules: [(index: Int, time: WallTime)] = [], note: (name: String, value: [UInt8])? = nil
    ) {
        self.producer = producer
        self.acceptedAt = acceptedAt
        self.earliestTime = earliestTime
        self.bytes = bytes
        self.items = items
        self.identities = identities
        self.inquiries = inquiries
        self.retries = retries
        self.histories = histories
        self.schedules = schedules
        self.note = note
    }
}

/// A row of a queue that a journal shares with applications. Its number alone is no identity: numbers come again where the
/// database loses what it had.
package struct QueueRow: Hashable, Sendable {
    package let number: Int64
    /// When it was submitted, in microseconds by the database's clock.
    package let time: Int64

    package init(number: Int64, time: Int64) {
        self.number = number
        self.time = time
    }
}

/// The earlier state of an entry that is imported. Opaque outside of this package.
public struct EntryHistory: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// Among the entries that go out in UID order.
        case waiting
        /// In a ``ScheduledPlace`` for one that is scheduled.
        case deferred(until: WallTime)
        case rejected(RejectionCause)
    }

    package var place: Place
    /// Attempts that were answered "not now", or whose result is unknown.
    package var attempts: UInt16
    /// Whether an attempt of it may have reached the service.
    package var isPossiblySent: Bool
    /// The reason of the last "not now".
    package var lastReason: Reason?
    /// Its Producer; `nil` for the submission's.
    package var producer: ProducerID?

    package init(
        place: Place = .waiting, attempts: UInt16 = 0, isPossiblySent: Bool = false, lastReason: Reason? = nil,
        producer: ProducerID? = nil
    ) {
        self.producer = producer
        self.place = place
        self.attempts = attempts
        self.isPossiblySent = isPossiblySent
        self.lastReason = lastReason
    }
}
