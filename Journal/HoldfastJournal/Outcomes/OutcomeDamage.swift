import Holdfast

/// Outcomes of the log that were met and can't be read: ranges of numbers, by the first of each.
struct OutcomeDamage: Hashable, Sendable {
    /// Ranges that are remembered. Beyond so many the count is too small.
    private static let greatestCount = 10_000

    private(set) var ranges: [UInt64: UInt64] = [:]

    /// Notes the outcomes from `first` to `last`. A range that is known counts once.
    mutating func add(_ first: UInt64, through last: UInt64) {
        guard first <= last, ranges[first] != nil || ranges.count < Self.greatestCount else { return }
        ranges[first] = max(ranges[first] ?? last, last)
    }

    mutating func add(_ other: OutcomeDamage) {
        for (first, last) in other.ranges { add(first, through: last) }
    }

    /// The number of outcomes, without those that were deleted meanwhile.
    ///
    /// - Parameter deleted: everything up to here was deleted.
    func count(after deleted: UInt64) -> Int {
        ranges.reduce(0) { count, range in
            range.value > deleted ? count + Int(clamping: range.value - max(range.key - 1, deleted)) : count
        }
    }
}
