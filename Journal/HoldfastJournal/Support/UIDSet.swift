/// A set of many UIDs that lie close together, such as those of all outcomes: kept as ranges.
struct UIDSet {
    private var ranges = UIDRanges([ClosedRange<UInt64>]())
    private var loose: [UInt64] = []

    private static let greatestLoose = 1 << 20

    mutating func insert(_ uid: UInt64) {
        loose.append(uid)
        if loose.count == Self.greatestLoose { join() }
    }

    mutating func contains(_ uid: UInt64) -> Bool {
        if !loose.isEmpty { join() }
        return ranges.next(from: uid)?.lowerBound == uid
    }

    private mutating func join() {
        loose.sort()
        var runs: [ClosedRange<UInt64>] = []
        for uid in loose {
            if let last = runs.last, uid <= last.upperBound &+ 1 {
                runs[runs.count - 1] = last.lowerBound...max(last.upperBound, uid)
            } else {
                runs.append(uid...uid)
            }
        }
        ranges = UIDRanges(ranges.ranges + runs)
        loose = []
    }
}
