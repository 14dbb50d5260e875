/// A set of entries, as ranges of neighbours in their lanes: a million of them in a row take as much memory as one.
struct EntryRanges: Hashable, Sendable {
    struct Range: Hashable, Sendable {
        let lane: LaneID
        let first: UID
        private(set) var last: UID

        init(_ first: EntryKey, through last: UID) {
            lane = first.lane
            self.first = first.uid
            self.last = last
        }

        /// Takes in the range that begins where this one ends.
        ///
        /// - Returns: false for any other range.
        mutating func join(_ next: Range) -> Bool {
            guard next.lane == lane, next.first > last, next.first.rawValue - last.rawValue == 1 else { return false }
            last = next.last
            return true
        }
    }

    /// In the order of lanes and UIDs, and apart.
    private var ranges: [Range] = []

    /// - Parameter ranges: in any order, and apart.
    init(_ ranges: some Sequence<Range>) {
        for next in ranges.sorted(by: { ($0.lane, $0.first) < ($1.lane, $1.first) }) {
            if self.ranges.isEmpty || !self.ranges[self.ranges.count - 1].join(next) { self.ranges.append(next) }
        }
    }

    var isEmpty: Bool { ranges.isEmpty }
    /// How much memory it takes.
    var rangeCount: Int { ranges.count }
    var first: EntryKey? { ranges.first.map { EntryKey(lane: $0.lane, uid: $0.first) } }
    var last: EntryKey? { ranges.last.map { EntryKey(lane: $0.lane, uid: $0.last) } }

    /// The first so many ranges.
    func prefix(_ limit: Int) -> EntryRanges { EntryRanges(ranges.prefix(limit)) }

    func intersection(_ other: EntryRanges) -> EntryRanges {
        var common: [Range] = []
        var (mine, theirs) = (0, 0)
        while mine < ranges.count, theirs < other.ranges.count {
            let (left, right) = (ranges[mine], other.ranges[theirs])
            if (left.lane, left.last) < (right.lane, right.last) { mine += 1 } else { theirs += 1 }
            let (first, last) = (max(left.first, right.first), min(left.last, right.last))
            guard left.lane == right.lane, first <= last else { continue }
            common.append(Range(EntryKey(lane: left.lane, uid: first), through: last))
        }
        return EntryRanges(common)
    }
}
