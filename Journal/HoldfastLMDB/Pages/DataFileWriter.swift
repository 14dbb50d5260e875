/// Writes a data file that liblmdb opens: whole tables, each in the order of its keys, packed full and without free pages.
///
/// For copies and compaction: it needs as much memory as a tree has levels, writes every byte once and in order, and lets
/// liblmdb near nothing.
package struct DataFileWriter: ~Copyable {
    private let file: OpenFile
    private let pageByteCount: Int
    private let mapByteCount: UInt64
    private let transaction: UInt64
    /// The number of the next page.
    private var next: UInt64 = 2
    /// Pages that wait to be written, the first of them at `bufferStart`.
    private var buffer: [UInt8] = []
    private var bufferStart: UInt64 = 2
    private var tables: [(name: [UInt8], record: TreeRecord)] = []
    private var tree: TreeInProgress?

    private static let bufferByteCount = 1 << 20

    /// - Parameters:
    ///   - path: of a file that is not there; made with mode 0600.
    ///   - transaction: the number of its newest commit, from 2 on. That of the file it is to replace, so that a lock file
    ///     which names that one stays true.
    package init(_ path: String, pageByteCount: Int, mapByteCount: UInt64, transaction: UInt64) throws(LMDBError) {
        let file = try OpenFile(path, .create)
        try file.replace(with: [])
        self.file = file
        self.pageByteCount = pageByteCount
        self.mapByteCount = mapByteCount
        self.transaction = max(2, transaction)
    }

    /// Begins a table. Rows follow, and ``endTable()``.
    package mutating func beginTable(_ name: String) {
        tree = TreeInProgress()
        tables.append((Array(name.utf8), TreeRecord()))
    }

    /// - Precondition: `key` has 1 to 511 bytes and is above all that the table has so far.
    package mutating func append(_ key: [UInt8], _ value: Span<UInt8>) throws(LMDBError) {
        try append(key, value, flags: 0)
    }

    private mutating func append(_ key: [UInt8], _ value: Span<UInt8>, flags: UInt16) throws(LMDBError) {
        guard var tree = tree.take() else { preconditionFailure("a row outside of a table") }
        precondition((1...PageLayout.greatestKey).contains(key.count), "a key of an impossible length")
        precondition(tree.last.map { $0.lexicographicallyPrecedes(key) } ?? true, "keys out of order")
        tree.last = key
        tree.record.rows += 1
        let count = PageLayout.nodeHeaderByteCount + key.count + value.count
        var node: [UInt8] = []
        if count > PageLayout.greatestNode(pageByteCount: pageByteCount) {
            let run = next
            try writeOutside(value)
            tree.record.overflowPages += next - run
            node = Self.leafNode(key, count: value.count, flags: PageLayout.inOverflow)
            for shift in stride(from: 0, to: 64, by: 8) { node.append(UInt8(truncatingIfNeeded: run >> UInt64(shift))) }
        } else {
            node = Self.leafNode(key, count: value.count, flags: flags)
            value.append(0..<value.count, to: &node)
        }
        if node.count % 2 == 1 { node.append(0) }
        try add(node, key, level: 0, to: &tree)
        self.tree = tree
    }

    package mutating func endTable() throws(LMDBError) { tables[tables.count - 1].record = try endTree() }

    /// Writes the list of tables and the meta pages, and syncs. On return all of it is on disk but the file's name.
    ///
    /// - Returns: the file's length.
    package consuming func finish() throws(LMDBError) -> Int {
        let rows = tables.sorted { lhs, rhs in lhs.name.lexicographicallyPrecedes(rhs.name) }
        tree = TreeInProgress()
        for row in rows {
            let bytes = row.record.bytes
            try append(row.name, bytes.span, flags: PageLayout.isTree)
        }
        let list = try endTree()
        try flush()
        for number in [UInt64(0), 1] {
            // The commit's number says on which of the two pages it belongs; the other has the one before it.
            let meta = MetaPage(
                number: number, mapByteCount: mapByteCount, tables: list, lastPage: next - 1,
                transaction: transaction & 1 == number ? transaction : transaction - 1, pageByteCount: pageByteCount)
            try file.write(meta.page, at: Int(number) * pageByteCount)
        }
        try file.sync()
        return Int(next) * pageByteCount
    }

    // MARK: Pages

    private mutating func write(_ page: [UInt8]) throws(LMDBError) {
        buffer += page
        next += UInt64(page.count / pageByteCount)
        if buffer.count >= Self.bufferByteCount { try flush() }
    }

    private mutating func flush() throws(LMDBError) {
        if !buffer.isEmpty { try file.write(buffer, at: Int(bufferStart) * pageByteCount) }
        buffer.removeAll(keepingCapacity: true)
        bufferStart = next
    }

    private mutating func writeOutside(_ value: Span<UInt8>) throws(LMDBError) {
        let count = PageLayout.overflowPages(value.count, pageByteCount: pageByteCount)
        var run = [UInt8](repeating: 0, count: count * pageByteCount)
        var span = run.mutableSpan
        span.store(next, at: 0)
        span.store(PageLayout.overflow, at: 10)
        span.store(UInt32(count), at: 12)
        span.copy(0..<value.count, of: value, to: PageLayout.headerByteCount)
        try write(run)
    }

    // MARK: Trees

    private static func leafNode(_ key: [UInt8], count: Int, flags: UInt16) -> [UInt8] {
        var node = [UInt8](repeating: 0, count: PageLayout.nodeHeaderByteCount)
        var span = node.mutableSpan
        span.store(UInt32(count), at: 0)
        span.store(flags, at: 4)
        span.store(UInt16(key.count), at: 6)
        return node + key
    }

    /// - Parameter key: empty for the first child of a page, whose key means nothing.
    private static func branchNode(_ key: [UInt8], child: UInt64) -> [UInt8] {
        var node = [UInt8](repeating: 0, count: PageLayout.nodeHeaderByteCount)
        var span = node.mutableSpan
        span.store(child, at: 0)
        span.store(UInt16(key.count), at: 6)
        node += key
        if node.count % 2 == 1 { node.append(0) }
        return node
    }

    private mutating func add(
        _ node: [UInt8], _ key: [UInt8], level: Int, to tree: inout TreeInProgress
    ) throws(LMDBError) {
        if level == tree.levels.count { tree.levels.append(TreeInProgress.Level()) }
        if !tree.levels[level].hasRoom(for: node, pageByteCount: pageByteCount) {
            // liblmdb wants two children at least in each branch: the last one moves on with the new one.
            let moved = level > 0 ? tree.levels[level].removeLast() : nil
            try endPage(level, of: &tree)
            if let moved { tree.levels[level].append(moved.node, moved.key) }
        }
        tree.levels[level].append(node, key)
    }

    /// Writes a level's page and puts it into the level above.
    private mutating func endPage(_ level: Int, of tree: inout TreeInProgress) throws(LMDBError) {
        let key = tree.levels[level].nodes[0].key
        let number = next
        try write(tree.levels[level].page(number, isLeaf: level == 0, pageByteCount: pageByteCount))
        if level == 0 { tree.record.leafPages += 1 } else { tree.record.branchPages += 1 }
        tree.levels[level] = TreeInProgress.Level()
        try add(Self.branchNode(key, child: number), key, level: level + 1, to: &tree)
    }

    private mutating func endTree() throws(LMDBError) -> TreeRecord {
        guard var tree = tree.take() else { preconditionFailure("no table was begun") }
        var level = 0
        while level < tree.levels.count {
            // The topmost level has one page, which is the root.
            if level == tree.levels.count - 1 {
                tree.record.root = next
                tree.record.depth = UInt16(level + 1)
                let page = tree.levels[level].page(next, isLeaf: level == 0, pageByteCount: pageByteCount)
                try write(page)
                if level == 0 { tree.record.leafPages += 1 } else { tree.record.branchPages += 1 }
                break
            }
            try endPage(level, of: &tree)
            level += 1
        }
        return tree.record
    }
}

/// A tree of which the right edge is not written yet.
private struct TreeInProgress {
    /// The page of one level that is being filled; leaves are level 0.
    struct Level {
        private(set) var nodes: [(node: [UInt8], key: [UInt8])] = []
        private var byteCount = 0

        func hasRoom(for node: [UInt8], pageByteCount: Int) -> Bool {
            PageLayout.headerByteCount + 2 * (nodes.count + 1) + byteCount + node.count <= pageByteCount
        }

        mutating func append(_ node: [UInt8], _ key: [UInt8]) {
            nodes.append((node, key))
            byteCount += node.count
        }

        mutating func removeLast() -> (node: [UInt8], key: [UInt8]) {
            let last = nodes.removeLast()
            byteCount -= last.node.count
            return last
        }

        func page(_ number: UInt64, isLeaf: Bool, pageByteCount: Int) -> [UInt8] {
            var page = [UInt8](repeating: 0, count: pageByteCount)
            var span = page.mutableSpan
            span.store(number, at: 0)
            span.store(isLeaf ? PageLayout.leaf : PageLayout.branch, at: 10)
            var upper = pageByteCount
            for (index, (node, _)) in nodes.enumerated() {
                // The key of a branch's first node means nothing, and is left out.
                let bytes = !isLeaf && index == 0 ? Array(node[..<6]) + [0, 0] : node
                upper -= bytes.count
                span.copy(0..<bytes.count, of: bytes.span, to: upper)
                span.store(UInt16(upper), at: PageLayout.headerByteCount + 2 * index)
            }
            span.store(UInt16(PageLayout.headerByteCount + 2 * nodes.count), at: 12)
            span.store(UInt16(upper), at: 14)
            return page
        }
    }

    var record = TreeRecord()
    var levels: [Level] = []
    var last: [UInt8]?
}
