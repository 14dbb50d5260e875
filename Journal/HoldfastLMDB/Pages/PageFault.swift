/// Something that is wrong with a data file.
package struct PageFault: Hashable, Sendable {
    /// In which table; nil for the file as a whole. The names of liblmdb's own trees are ``freeList`` and ``tables``.
    package var table: String?
    package var page: UInt64?
    /// What is wrong, for people.
    package var what: String
    /// The rows that cannot be reached because of it; nil when all can be.
    package var lost: KeyRange?
    /// Whether liblmdb dies by a signal of it, never comes to an end, or writes over what is in use. What is not is rows
    /// that it does not find.
    package var isFatal = false
    /// Whether it is what a damaged key looks like: a leaf whose keys are out of order among themselves. One whose keys are in
    /// order, but not between those of its neighbours, was in its place at another time.
    package var isDamagedKey = false

    package static let freeList = "free list"
    package static let tables = "list of tables"
}

/// Keys from a first one on, up to but not including another.
package struct KeyRange: Hashable, Sendable {
    /// Nil: from the very first.
    package var from: [UInt8]?
    /// Nil: to the very last.
    package var to: [UInt8]?

    package init(from: [UInt8]? = nil, to: [UInt8]? = nil) {
        self.from = from
        self.to = to
    }

    package func contains(_ key: [UInt8]) -> Bool {
        if let from, key.lexicographicallyPrecedes(from) { return false }
        if let to, !key.lexicographicallyPrecedes(to) { return false }
        return true
    }
}
