/// The ceilings of the send marks, by lane.
struct MarkCeilings: Sendable {
    /// Lane 1 first; 0 for none.
    private var ceilings: [UInt64] = []
    /// Indices of lanes whose ceiling has been raised and no commit has looked at since.
    private(set) var raised: Set<Int> = []

    /// The ceiling of the lane with this index; 0 for none.
    subscript(index: Int) -> UInt64 { index < ceilings.count ? ceilings[index] : 0 }

    /// Raises a lane's ceiling; a lower one than there is changes nothing.
    mutating func raise(_ index: Int, to ceiling: UInt64) {
        while ceilings.count <= index { ceilings.append(0) }
        guard ceiling > ceilings[index] else { return }
        ceilings[index] = ceiling
        raised.insert(index)
    }

    /// The lane's ceiling as it was raised so far counts no more.
    mutating func forget(_ index: Int) {
        if ceilings.indices.contains(index) { ceilings[index] = 0 }
        raised.remove(index)
    }

    /// A commit has raised the marks to these ceilings. Those that were raised further since stay to be looked at.
    mutating func committed(_ taken: MarkCeilings) {
        for index in taken.raised where self[index] == taken[index] { raised.remove(index) }
    }
}
