/// Unconfirmed entries as the journal hands them out: packed notifications side by side in one buffer, copied out of the
/// journal's transaction.
public struct EntryBatch: Sendable {
    /// One entry's place in the batch.
    public struct Item: Sendable {
        /// The entry's UID.
        public let uid: UID
        /// How often the entry was answered "not now", or with nothing known, so far.
        public let attempts: UInt16
        /// An attempt of it may have reached the service, by its record's own word. (One at or below its lane's send mark
        /// at opening may have been sent as well.)
        public let isPossiblySent: Bool
        let offset: UInt32
        let count: UInt32

        /// - Parameter range: where its packed notification lies in ``EntryBatch/bytes``.
        package init(uid: UID, attempts: UInt16, isPossiblySent: Bool = false, range: Range<Int>) {
            self.uid = uid
            self.attempts = attempts
            self.isPossiblySent = isPossiblySent
            offset = UInt32(range.lowerBound)
            count = UInt32(range.count)
        }

        /// Where its packed notification lies in ``EntryBatch/bytes``.
        public var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }
    }

    /// The packed notifications. See ``PackedNotification``.
    public let bytes: [UInt8]
    /// The entries, ascending by UID except among those that go again.
    public private(set) var items: [Item]
    /// Entries that belong here, ascending by UID, and whose records cannot be read.
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
    /// Whether there is nothing to hand out. There may be unreadable entries all the same.
    public var isEmpty: Bool { items.isEmpty }

    /// The greatest UID in the batch, readable or not; `nil` when there is none.
    package var lastUID: UID? {
        guard let unreadable = unreadable.last?.uid else { return items.last?.uid }
        return max(items.last?.uid ?? .none, unreadable)
    }

    /// Where things are in the notification of item `index`.
    ///
    /// - Throws: ``PackedNotification/Damage``. The journal checked the record's checksum, so this is a record of a
    ///   newer version or a fault of ours, never wear of the disk.
    public func fields(at index: Int) throws(PackedNotification.Damage) -> PackedNotification.Fields {
        try PackedNotification.Fields(bytes.span, in: items[index].range)
    }

    /// A copy of the notification of item `index`.
    public func notification(at index: Int) throws(PackedNotification.Damage) -> PushNotification {
        PushNotification(try fields(at: index), in: bytes)
    }

    /// The same entries, without those at `indices` (ascending). The buffer is shared, not copied.
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
