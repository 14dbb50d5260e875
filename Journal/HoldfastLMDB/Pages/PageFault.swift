/// Something that is wrong with a data file.
package struct PageFault: Hashable, Sendable {
    /// The table; nil for the file as a whole. The names of liblmdb's own trees are ``freeList`` and ``tables``.
    package var table: String?
    package var page: UInt64?
    /// The fault in words, for people.
    package var what: String
    /// The rows that cannot be reached because of it; nil when all can be.
    package var lost: KeyRange?
    /// Whether the fault makes liblmdb die by a signal, loop for ever, or overwrite pages in use. A fault that does not
    /// hides rows from it.
    package var isFatal = false
    /// Whether it looks like a damaged key: a leaf whose keys are out of order among themselves. A leaf whose keys are
    /// in order, but not between those of its neighbours, belongs to another commit.
    package var isDamagedKey = false

    package static let freeList = "free list"
    package static let tables = "list of tables"
}

/// Keys from a first one on, up to but not including another.
package struct KeyRange: Hashable, Sendable {
    /// nil: from the very first.
    package var from: [UInt8]?
    /// nil: to the very last.
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
