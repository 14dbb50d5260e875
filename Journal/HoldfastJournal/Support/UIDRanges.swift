package import Holdfast

/// A set of UIDs, as people write it: `10-20,30`.
package struct UIDRanges: Hashable, Sendable, CustomStringConvertible {
    /// Ascending, with a gap between each and the next.
    package let ranges: [ClosedRange<UInt64>]

    package static let all = UIDRanges([0...UInt64.max])

    /// - Parameter ranges: in any order; they may overlap.
    package init(_ ranges: some Sequence<ClosedRange<UInt64>>) {
        var joined: [ClosedRange<UInt64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, last.upperBound == .max || range.lowerBound <= last.upperBound + 1 {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        self.ranges = joined
    }

    package init(_ uids: some Sequence<UID>) { self.init(uids.map { $0.rawValue...$0.rawValue }) }

    /// - Parameter text: numbers and ranges with commas between them: `7`, `10-20`, `10-`, `-20`.
    /// - Returns: nil for anything else.
    package init?(_ text: some StringProtocol) {
        var ranges: [ClosedRange<UInt64>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, ends.contains(where: { !$0.isEmpty }) else { return nil }
            guard let first = Self.end(ends[0], otherwise: 0),
                let last = Self.end(ends[ends.count - 1], otherwise: .max), first <= last
            else { return nil }
            ranges.append(first...last)
        }
        self.init(ranges)
    }

    private static func end(_ text: some StringProtocol, otherwise open: UInt64) -> UInt64? {
        if text.isEmpty { return open }
        guard text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return UInt64(text)
    }

    package func contains(_ uid: UID) -> Bool { next(from: uid.rawValue)?.lowerBound == uid.rawValue }

    /// The UIDs of the set that are above `uid`.
    package func above(_ uid: UID) -> UIDRanges {
        UIDRanges(
            ranges.compactMap { range in
                range.upperBound > uid.rawValue ? max(range.lowerBound, uid.rawValue + 1)...range.upperBound : nil
            })
    }

    /// The first UIDs of the set from `uid` on, up to their end.
    func next(from uid: UInt64) -> ClosedRange<UInt64>? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < uid { low = middle + 1 } else { high = middle }
        }
        guard low < ranges.count else { return nil }
        return max(uid, ranges[low].lowerBound)...ranges[low].upperBound
    }

    package var description: String {
        ranges.map { range in
            if range.lowerBound == range.upperBound { return String(range.lowerBound) }
            return "\(range.lowerBound)-" + (range.upperBound == .max ? "" : String(range.upperBound))
        }.joined(separator: ",")
    }
}
