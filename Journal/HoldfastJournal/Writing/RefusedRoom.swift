/// The size of the smallest appends that were refused for want of room, until there is room for them.
///
/// Where a batch has no room and a single notification has, the journal counts as full: whoever hands over batches, such as hosts
/// that claim submissions by SQL, would be refused again and again.
struct RefusedRoom: Sendable {
    /// The part of a journal's limit that counts at most. A batch that is too large for an empty journal says nothing of room, and a
    /// small journal keeps some of its own pages.
    static let greatestPart = 8

    private(set) var bytes = 0
    private(set) var entries = 0

    var isEmpty: Bool { bytes == 0 }

    /// There was no room for appends of this size.
    mutating func refused(_ bytes: Int, entries: Int, limit: Int, entryLimit: Int?) {
        let bytes = max(1, min(bytes, limit / Self.greatestPart))
        guard isEmpty || bytes < self.bytes else { return }
        (self.bytes, self.entries) = (bytes, min(entries, entryLimit.map { $0 / Self.greatestPart } ?? entries))
    }

    /// Appends of so many bytes have room.
    mutating func admitted(_ bytes: Int) { if bytes >= self.bytes { self = RefusedRoom() } }
}
