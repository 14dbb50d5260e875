/// Unconfirmed entries from the journal: packed notifications in one buffer, copied out of the journal's transaction.
public struct EntryBatch: Sendable {
    /// One entry's place in the batch.
    public struct Item: Sendable {
        /// The entry's UID.
        public let uid: UID
        /// Earlier attempts that were answered "not now", or whose result is unknown.
        public let attempts: UInt16
        /// Whether its record says that an attempt may have reached the service. (An entry at or below its lane's send mark at
        /// opening may have been sent, too.)
        public let isPossiblySent: Bool
        /// Whether it came from the lane of the other environment, where its token is bad.
        package let isMoved: Bool
        let offset: UInt32
        let count: UInt32

        /// - Parameter range: where its packed notification lies in ``EntryBatch/bytes``.
        package init(uid: UID, attempts: UInt16, isPossiblySent: Bool = false, isMoved: Bool = false, range: Range<Int>)
        {
            self.uid = uid
            self.attempts = attempts
            self.isPossiblySent = isPossiblySent
            self.isMoved = isMoved
            offset = UInt32(range.lowerBound)
            count = UInt32(range.count)
        }

        /// The range of its packed notification in ``EntryBatch/bytes``.
        public var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }
    }

    /// The packed notifications; see ``PackedNotification``.
    public let bytes: [UInt8]
    /// The entries, ascending by UID unless they are sent again.
    public private(set) var items: [Item]
    /// Further entries whose records cannot be read, ascending by UID.
    package private(set) var unreadable: [UnreadableEntry]

    package init(bytes: [UInt8], items: [Item], unreadable: [UnreadableEntry] = []) {
        self.bytes = bytes
        self.items = items
        self.unreadable = unreadable
    }

    package static let empty = EntryBatch(bytes: [], items: [])

    /// The number of entries.
    public var count: Int { items.count }
    /// The number of entries, readable or not: the send mark covers both.
    var wholeCount: Int { items.count + unreadable.count }
    /// Whether there is nothing to hand out. There may still be unreadable entries.
    public var isEmpty: Bool { items.isEmpty }

    /// The greatest UID in the batch, readable or not; `nil` if it is empty.
    package var lastUID: UID? {
        guard let unreadable = unreadable.last?.uid else { return items.last?.uid }
        return max(items.last?.uid ?? .none, unreadable)
    }

    /// Reads the fields of the notification of item `index`, without a copy.
    ///
    /// - Throws: ``PackedNotification/Damage``. The journal has verified the record's checksum, so the record is of a newer
    ///   version, or there is a bug; the disk is not to blame.
    public func fields(at index: Int) throws(PackedNotification.Damage) -> PackedNotification.Fields {
        try PackedNotification.Fields(bytes.span, in: items[index].range)
    }

    /// Returns the notification of item `index`, copied.
    ///
    /// - Throws: as ``fields(at:)``.
    public func notification(at index: Int) throws(PackedNotification.Damage) -> PushNotification {
        PushNotification(try fields(at: index), in: bytes)
    }

    /// Returns the batch without the entries at `indices` (ascending). The buffer is shared, not copied.
    package func removing(_ indices: [Int]) -> EntryBatch {
        guard !indices.isEmpty else { return self }
        var kept: [Item] = []
        kept.reserveCapacity(items.count - indices.count)
        var next = indices.startIndex
        for index in items.indices {
            if next < indices.endIndex, indices[next] == index {
                next += 1
            } else {
                kept.append(items[index])
            }
        }
        return EntryBatch(bytes: bytes, items: kept, unreadable: unreadable)
    }
}
