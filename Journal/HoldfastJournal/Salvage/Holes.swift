import HoldfastLMDB

/// The keys of tables that are out of reach, so that their rows are unknown.
struct Holes {
    private var ranges: [String: [KeyRange]] = [:]
    private var isSorted = true

    /// Beyond so many a table counts as lost altogether, which is the careful thing to do.
    private static let greatestCount = 10_000

    var isEmpty: Bool { ranges.isEmpty }

    func has(_ table: String) -> Bool { ranges[table] != nil }

    mutating func add(_ table: String, _ range: KeyRange = KeyRange()) {
        isSorted = false
        ranges[table, default: []].append(range)
        if ranges[table]?.count ?? 0 > Self.greatestCount { ranges[table] = [KeyRange()] }
    }

    mutating func contains(_ table: String, _ key: [UInt8]) -> Bool {
        guard ranges[table] != nil else { return false }
        if !isSorted { sort() }
        guard let ranges = ranges[table] else { return false }
        // The last that begins at or below the key; they do not overlap.
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            let isAbove = ranges[middle].from.map { key.lexicographicallyPrecedes($0) } ?? false
            if isAbove { high = middle } else { low = middle + 1 }
        }
        return low > 0 && ranges[low - 1].contains(key)
    }

    private mutating func sort() {
        for (table, list) in ranges {
            var merged: [KeyRange] = []
            for range in list.sorted(by: { ($0.from ?? []).lexicographicallyPrecedes($1.from ?? []) }) {
                guard let last = merged.last, Self.reaches(last, range) else {
                    merged.append(range)
                    continue
                }
                merged[merged.count - 1].to = Self.later(last.to, range.to)
            }
            ranges[table] = merged
        }
        isSorted = true
    }

    private static func reaches(_ range: KeyRange, _ next: KeyRange) -> Bool {
        guard let to = range.to else { return true }
        return !to.lexicographicallyPrecedes(next.from ?? [])
    }

    private static func later(_ lhs: [UInt8]?, _ rhs: [UInt8]?) -> [UInt8]? {
        guard let lhs, let rhs else { return nil }
        return lhs.lexicographicallyPrecedes(rhs) ? rhs : lhs
    }
}
