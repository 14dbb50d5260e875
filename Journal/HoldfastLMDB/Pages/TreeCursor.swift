/// A place in a tree that a ``FileWalk`` has found to be sound. Where it is not after all, the cursor ends early.
package struct TreeCursor {
    private let file: DataFile
    private let root: UInt64
    private var path: [(page: TreePage, index: Int)] = []

    package init(_ file: DataFile, _ tree: TreeRecord) {
        self.file = file
        root = tree.root
    }

    /// The key it stands at; nil when it is nowhere.
    package var key: [UInt8]? {
        guard let (page, index) = path.last else { return nil }
        return Array(page.bytes[page.nodes[index].key])
    }

    /// The value it stands at.
    package func value() -> [UInt8]? {
        guard let (page, index) = path.last else { return nil }
        let node = page.nodes[index]
        guard node.outside != nil else { return Array(page.bytes[node.value]) }
        do throws(TreePage.Fault) { return try file.outsideValue(node).value } catch { return nil }
    }

    /// Goes to the first key at or above `wanted`.
    ///
    /// - Returns: whether there is one.
    package mutating func seek(atLeast wanted: [UInt8]) -> Bool {
        path = []
        guard root != PageLayout.noPage, descend(root, to: wanted) else { return false }
        guard let (page, index) = path.last else { return false }
        return index < page.nodes.count || next()
    }

    /// The last key there is; nil when there is none, or it cannot be read.
    package func lastKey() -> [UInt8]? {
        var number = root
        for _ in 0..<PageLayout.greatestDepth where number != PageLayout.noPage {
            do throws(TreePage.Fault) {
                let page = try file.treePage(number, isChecked: false)
                guard let node = page.nodes.last else { return nil }
                if page.isLeaf { return Array(page.bytes[node.key]) }
                number = node.page
            } catch {
                return nil
            }
        }
        return nil
    }

    package mutating func next() -> Bool {
        while let (page, index) = path.popLast() {
            guard index + 1 < page.nodes.count else { continue }
            path.append((page, index + 1))
            return page.isLeaf || descend(page.nodes[index + 1].page, to: [])
        }
        return false
    }

    private mutating func descend(_ start: UInt64, to wanted: [UInt8]) -> Bool {
        var number = start
        while path.count < PageLayout.greatestDepth {
            let page: TreePage
            do throws(TreePage.Fault) {
                page = try file.treePage(number, isChecked: false)
            } catch {
                path = []
                return false
            }
            let index = Self.place(of: wanted, in: page)
            path.append((page, index))
            if page.isLeaf { return true }
            number = page.nodes[index].page
        }
        path = []
        return false
    }

    /// In a leaf: the first node at or above the key, or one beyond the last. In a branch: the child whose range
    /// includes the key.
    private static func place(of key: [UInt8], in page: TreePage) -> Int {
        if key.isEmpty { return 0 }
        var (low, high) = (page.isLeaf ? 0 : 1, page.nodes.count)
        while low < high {
            let middle = (low + high) / 2
            let other = page.bytes[page.nodes[middle].key]
            let isBefore = page.isLeaf ? other.lexicographicallyPrecedes(key) : !key.lexicographicallyPrecedes(other)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return page.isLeaf ? low : low - 1
    }
}
