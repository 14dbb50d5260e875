internal import Holdfast

/// The deferred entries of a lane, in the order in which they fall due.
struct DeferredTable: Sendable {
    struct Entry: Sendable {
        var due: WallTime
        var reason: Reason
        var record: InMemoryDisk.Record
    }

    private var order: [(due: WallTime, uid: UID)] = []
    private var entries: [UID: Entry] = [:]

    var count: Int { entries.count }
    /// Those that wait for the time they are scheduled for.
    var scheduledCount: Int { order.count - order.firstPlace { $0.due > ScheduledPlace.last } }

    /// Those in the places of paused tags.
    var heldCount: Int {
        order.firstPlace { $0.due > TagPlace.last } - order.firstPlace { $0.due >= TagPlace.first }
    }

    /// The number of those that are due at exactly this time.
    func count(dueAt due: WallTime) -> Int {
        order.firstPlace { $0.due > due } - order.firstPlace { $0.due >= due }
    }

    /// When the first is due that is due after `after`.
    func nextDue(after: WallTime?) -> WallTime? {
        let place = after.map { after in order.firstPlace { $0.due > after } } ?? 0
        return place < order.count ? order[place].due : nil
    }

    subscript(_ uid: UID) -> Entry? { entries[uid] }

    mutating func insert(_ entry: Entry, for uid: UID) {
        entries[uid] = entry
        order.insert((entry.due, uid), at: place(of: entry.due, uid))
    }

    mutating func remove(_ uid: UID) -> Entry? {
        guard let entry = entries.removeValue(forKey: uid) else { return nil }
        order.remove(at: place(of: entry.due, uid))
        return entry
    }

    /// Takes out those that are due, in due order, at most `limit`.
    mutating func takeDue(
        _ now: WallTime, after: WallTime?, limit: Int
    ) -> [(uid: UID, record: InMemoryDisk.Record)] {
        let start = after.map { after in order.firstPlace { $0.due > after } } ?? 0
        let due = Array(order[start...].prefix(max(limit, 0)).prefix { $0.due <= now })
        order.removeSubrange(start..<(start + due.count))
        var taken: [(uid: UID, record: InMemoryDisk.Record)] = []
        for (_, uid) in due {
            if let entry = entries.removeValue(forKey: uid) { taken.append((uid, entry.record)) }
        }
        return taken
    }

    /// In due order.
    var all: [(uid: UID, entry: Entry)] {
        order.compactMap { place in entries[place.uid].map { (place.uid, $0) } }
    }

    /// All of them in due order, without a copy.
    func visitAll(_ body: (_ uid: UID, _ entry: Entry) -> Void) {
        for place in order { if let entry = entries[place.uid] { body(place.uid, entry) } }
    }

    private func place(of due: WallTime, _ uid: UID) -> Int { order.firstPlace { ($0.due, $0.uid) >= (due, uid) } }
}
