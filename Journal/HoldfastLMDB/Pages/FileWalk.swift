/// A walk over the trees of a data file, in the order of their keys, which no file can crash or hang: no page is visited
/// twice, and no path is longer than liblmdb's own.
package final class FileWalk {
    package let file: DataFile
    /// Says how many pages were visited; returns whether to go on.
    private let goOn: (Int) -> Bool
    private let tell: (PageFault) -> Void
    private(set) var reached: PageSet
    /// Whether it was ended before its end.
    package private(set) var isStopped = false
    /// Whether rows could not be reached.
    package private(set) var hasLost = false

    package init(
        _ file: DataFile, goOn: @escaping (Int) -> Bool, fault: @escaping (PageFault) -> Void
    ) {
        self.file = file
        self.goOn = goOn
        tell = fault
        reached = PageSet(last: file.lastPage)
    }

    package var visited: Int { reached.count }

    /// The place of one row.
    package struct Place: Sendable {
        package let page: UInt64
        /// Whether the value is a table's record, as rows of the list of tables are.
        package let isTree: Bool
    }

    package typealias RowBody = (_ key: [UInt8], _ value: Span<UInt8>, _ place: Place) -> Void

    /// The state of one tree's walk.
    private struct Tree {
        let record: TreeRecord
        let name: String
        let integerKeys: Bool
        var branchPages: UInt64 = 0
        var leafPages: UInt64 = 0
        var overflowPages: UInt64 = 0
        var rows: UInt64 = 0
        /// Whether rows were lost, so that figures say nothing.
        var isTorn = false
        var hasWrongDepth = false
        var last: [UInt8]?
    }

    func report(_ fault: PageFault) { tell(fault) }

    /// Passes every reachable row to `row`, and every fault to the fault handler.
    ///
    /// Rows come in strictly ascending order of their keys. Keys of the free list are passed big-endian, so that their
    /// order is the bytes' order, too.
    package func walk(_ record: TreeRecord, name: String, integerKeys: Bool = false, row: RowBody) {
        var tree = Tree(record: record, name: name, integerKeys: integerKeys)
        if record.root == PageLayout.noPage {
            if record.depth != 0 { tell(PageFault(table: name, what: "it has no root but \(record.depth) levels")) }
        } else {
            visit(record.root, level: 1, KeyRange(), &tree, row)
            if tree.hasWrongDepth {
                tell(PageFault(table: name, what: "its record says that it has \(record.depth) levels; it has not"))
            }
        }
        guard !tree.isTorn, !isStopped else { return }
        for (what, is_, says) in [
            ("rows", tree.rows, record.rows), ("branch pages", tree.branchPages, record.branchPages),
            ("leaf pages", tree.leafPages, record.leafPages),
            ("overflow pages", tree.overflowPages, record.overflowPages),
        ] where is_ != says {
            tell(PageFault(table: name, what: "its record says that it has \(says) \(what), but there are \(is_)"))
        }
    }

    private func visit(_ number: UInt64, level: Int, _ range: KeyRange, _ tree: inout Tree, _ row: RowBody) {
        if isStopped { return }
        guard goOn(reached.count) else {
            isStopped = true
            return
        }
        do throws(TreePage.Fault) {
            guard level <= PageLayout.greatestDepth else { throw TreePage.Fault(what: "it lies too deep") }
            try enter(number, count: 1)
            let page = try file.treePage(number)
            if page.isLeaf {
                if level != Int(tree.record.depth) { tree.hasWrongDepth = true }
                tree.leafPages += 1
                visit(leaf: page, number, range, &tree, row)
            } else {
                tree.branchPages += 1
                visit(branch: page, number, level: level, range, &tree, row)
            }
        } catch {
            lose(number, error.what, range, &tree, isFatal: true)
        }
    }

    private func lose(
        _ page: UInt64, _ what: String, _ range: KeyRange, _ tree: inout Tree, isFatal: Bool = false,
        isDamagedKey: Bool = false
    ) {
        tree.isTorn = true
        hasLost = true
        tell(
            PageFault(
                table: tree.name, page: page, what: what, lost: range, isFatal: isFatal, isDamagedKey: isDamagedKey))
    }

    private func enter(_ first: UInt64, count: Int) throws(TreePage.Fault) {
        guard first >= 2, first <= file.lastPage, UInt64(count) - 1 <= file.lastPage - first else {
            throw TreePage.Fault(what: "there is no such page in the file")
        }
        for page in first..<(first + UInt64(count)) where !reached.insert(page) {
            throw TreePage.Fault(what: "page \(page) is in use in two places")
        }
    }

    private func visit(
        branch page: TreePage, _ number: UInt64, level: Int, _ range: KeyRange, _ tree: inout Tree, _ row: RowBody
    ) {
        // The first node's key means nothing: everything below the second one's is there.
        var starts: [[UInt8]?] = [range.from]
        for node in page.nodes.dropFirst() {
            let key = self.key(node, of: page, tree)
            let isInOrder = starts.last.flatMap(\.self).map { $0.lexicographicallyPrecedes(key) } ?? true
            guard isInOrder, range.contains(key) else {
                return lose(number, "the keys that divide its children are out of order", range, &tree)
            }
            starts.append(key)
        }
        for (index, node) in page.nodes.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : range.to
            visit(node.page, level: level + 1, KeyRange(from: starts[index], to: end), &tree, row)
        }
    }

    private func visit(
        leaf page: TreePage, _ number: UInt64, _ range: KeyRange, _ tree: inout Tree, _ row: RowBody
    ) {
        var isInOrder = true
        var isAscending = true
        var before: [UInt8]?
        for node in page.nodes {
            let key = self.key(node, of: page, tree)
            if let before, !before.lexicographicallyPrecedes(key) { isAscending = false }
            before = key
            let follows = tree.last.map { $0.lexicographicallyPrecedes(key) } ?? true
            let place = Place(page: number, isTree: node.flags == PageLayout.isTree)
            guard follows, range.contains(key), (1...PageLayout.greatestKey).contains(key.count) else {
                isInOrder = false
                // A damaged name of a table must not hide its neighbours, which are known by theirs wherever they stand.
                if tree.name == PageFault.tables, node.outside == nil {
                    row(key, page.bytes.span.extracting(node.value), place)
                }
                continue
            }
            tree.last = key
            tree.rows += 1
            guard node.outside != nil else {
                row(key, page.bytes.span.extracting(node.value), place)
                continue
            }
            do throws(TreePage.Fault) {
                let (value, pages) = try file.outsideValue(node)
                try enter(node.page, count: pages)
                tree.overflowPages += UInt64(pages)
                row(key, value.span, place)
            } catch {
                lose(
                    node.page, "the value of a row on page \(number): \(error.what)", .only(key), &tree, isFatal: true)
            }
        }
        if !isInOrder { lose(number, "its keys are out of order", range, &tree, isDamagedKey: !isAscending) }
    }

    private func key(_ node: TreePage.Node, of page: TreePage, _ tree: Tree) -> [UInt8] {
        let key = Array(page.bytes[node.key])
        return tree.integerKeys ? key.reversed() : key
    }
}

extension KeyRange {
    /// The range that holds one key.
    package static func only(_ key: [UInt8]) -> KeyRange { KeyRange(from: key, to: key + [0]) }
}
