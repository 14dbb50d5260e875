/// One page of a tree, with all of its significant bytes checked.
///
/// Nodes lie without gaps from `upper` to the end of the page, so a changed length or place shows. The unchecked bytes
/// mean nothing: two bytes of the header, the space between `lower` and `upper`, and the byte behind a node of odd
/// length.
struct TreePage {
    struct Node {
        let key: Range<Int>
        /// In a leaf: the range of the value in the page; empty when it is in overflow pages.
        let value: Range<Int>
        /// In a branch: the child. In a leaf whose value is outside: the first of its pages.
        let page: UInt64
        /// The length of a value that lies outside; nil for one in the page.
        let outside: Int?
        let flags: UInt16
    }

    let bytes: [UInt8]
    let isLeaf: Bool
    let nodes: [Node]

    /// The reason why bytes are not a page of a tree, for people.
    struct Fault: Error { let what: String }

    /// - Parameters:
    ///   - number: which page it is.
    ///   - isChecked: false where it is known to be sound, which saves time.
    init(_ bytes: [UInt8], number: UInt64, isChecked: Bool = true) throws(Fault) {
        self.bytes = bytes
        let span = bytes.span
        let start = PageLayout.headerByteCount
        guard span.count > start else { throw Fault(what: "it is not in the file as a whole") }
        let stated = span.load(UInt64.self, at: 0)
        guard stated == number else { throw Fault(what: "it says that it is page \(stated)") }
        let kind = span.load(UInt16.self, at: 10)
        guard kind == PageLayout.branch || kind == PageLayout.leaf else {
            throw Fault(what: "it is not a page of a tree, by its kind \(kind)")
        }
        isLeaf = kind == PageLayout.leaf
        let lower = Int(span.load(UInt16.self, at: 12))
        let upper = Int(span.load(UInt16.self, at: 14))
        guard lower > start, lower % 2 == 0, lower <= upper, upper < span.count else {
            throw Fault(what: "its bounds \(lower) and \(upper) make no sense")
        }
        nodes = try Self.nodes(span, isLeaf: isLeaf, lower: lower, upper: upper)
        guard isLeaf || nodes.count > 1 else { throw Fault(what: "it has a single child") }
        if isChecked { try Self.checkTiling(nodes, span, upper: upper) }
    }

    private static func nodes(
        _ span: Span<UInt8>, isLeaf: Bool, lower: Int, upper: Int
    ) throws(Fault) -> [Node] {
        var nodes: [Node] = []
        nodes.reserveCapacity((lower - PageLayout.headerByteCount) / 2)
        for place in stride(from: PageLayout.headerByteCount, to: lower, by: 2) {
            let offset = Int(span.load(UInt16.self, at: place))
            guard offset >= upper, offset % 2 == 0, offset + PageLayout.nodeHeaderByteCount <= span.count else {
                throw Fault(what: "its node \(nodes.count) is out of bounds")
            }
            let node = isLeaf ? leafNode(span, at: offset) : branchNode(span, at: offset)
            guard let node, node.key.upperBound <= span.count, node.value.upperBound <= span.count else {
                throw Fault(what: "its node \(nodes.count) is out of bounds, or of no known kind")
            }
            nodes.append(node)
        }
        return nodes
    }

    private static func branchNode(_ span: Span<UInt8>, at offset: Int) -> Node? {
        let child = span.load(UInt64.self, at: offset) & 0xFFFF_FFFF_FFFF
        let key = (offset + 8)..<(offset + 8 + Int(span.load(UInt16.self, at: offset + 6)))
        return Node(key: key, value: key.upperBound..<key.upperBound, page: child, outside: nil, flags: 0)
    }

    private static func leafNode(_ span: Span<UInt8>, at offset: Int) -> Node? {
        let flags = span.load(UInt16.self, at: offset + 4)
        let count = Int(span.load(UInt32.self, at: offset))
        let key = (offset + 8)..<(offset + 8 + Int(span.load(UInt16.self, at: offset + 6)))
        switch flags {
        case 0, PageLayout.isTree:
            guard count + key.count + 8 <= PageLayout.greatestNode(pageByteCount: span.count) else { return nil }
            return Node(
                key: key, value: key.upperBound..<(key.upperBound + count), page: 0, outside: nil, flags: flags)
        case PageLayout.inOverflow:
            guard key.upperBound + 8 <= span.count else { return nil }
            let page = span.load(UInt64.self, at: key.upperBound)
            return Node(
                key: key, value: key.upperBound..<key.upperBound, page: page, outside: count, flags: flags)
        default: return nil
        }
    }

    private static func checkTiling(_ nodes: [Node], _ span: Span<UInt8>, upper: Int) throws(Fault) {
        let extents = nodes.map { node in
            let start = node.key.lowerBound - PageLayout.nodeHeaderByteCount
            let end = node.value.upperBound + (node.outside == nil ? 0 : 8)
            return start..<(start + PageLayout.even(end - start))
        }
        var next = upper
        for extent in extents.sorted(by: { lhs, rhs in lhs.lowerBound < rhs.lowerBound }) {
            guard extent.lowerBound == next else { throw Fault(what: "its nodes overlap, or leave a gap") }
            next = extent.upperBound
        }
        guard next == span.count else { throw Fault(what: "its nodes do not end where the page does") }
    }
}
