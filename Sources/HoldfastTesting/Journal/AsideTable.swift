internal import Holdfast

/// Entries that are kept aside, in the order in which they were put there.
struct AsideTable: Sendable {
    struct Entry: Sendable {
        let since: WallTime
        let keepsOutcome: Bool
        let record: InMemoryDisk.Record
    }

    private var order: [(since: WallTime, uid: UID)] = []
    private var entries: [UID: Entry] = [:]

    var count: Int { entries.count }

    subscript(_ uid: UID) -> Entry? { entries[uid] }

    mutating func insert(_ entry: Entry, for uid: UID) {
        entries[uid] = entry
        order.insert((entry.since, uid), at: place(of: entry.since, uid))
    }

    mutating func remove(_ uid: UID) -> Entry? {
        guard let entry = entries.removeValue(forKey: uid) else { return nil }
        order.remove(at: place(of: entry.since, uid))
        return entry
    }

    /// Oldest first.
    var all: [(since: WallTime, uid: UID)] { order }

    /// The oldest, at most so many.
    func oldest(_ number: Int) -> [UID] { order.prefix(max(number, 0)).map(\.uid) }

    private func place(of since: WallTime, _ uid: UID) -> Int {
        order.firstPlace { ($0.since, $0.uid) >= (since, uid) }
    }
}
