package import Holdfast
package import HoldfastJournal

extension UIDRanges {
    /// The UIDs of the set that are below `uid`.
    package func below(_ uid: UID) -> UIDRanges {
        UIDRanges(
            ranges.compactMap { range in
                range.lowerBound < uid.rawValue ? range.lowerBound...min(range.upperBound, uid.rawValue - 1) : nil
            })
    }
}
