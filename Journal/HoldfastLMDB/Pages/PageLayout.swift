/// The layout of liblmdb 0.9's data file on a 64-bit little-endian machine, for reading files that would crash liblmdb,
/// and for writing files that it then opens.
///
///     page    0 u64 its number   8 u16 unused   10 u16 kind   12 u16 lower   14 u16 upper; of a run: 12 u32 its pages
///             16 u16 each: where its nodes begin, in the order of their keys · unused · the nodes, without gaps, to the end
///     node    0 u32 length of the value   4 u16 flags   6 u16 length of the key   8 key · value · to an even length
///             of a branch: 0 u48 the child's page   6 u16 length of the key   8 key
///     tree    0 u32 unused   4 u16 flags   6 u16 depth   8 u64 branch pages   16 u64 leaf pages   24 u64 overflow pages
///             32 u64 rows   40 u64 root
///     meta    0 u32 magic   4 u32 version   8 u64 unused   16 u64 map size   24 tree: free list (whose first field is the
///             page size)   72 tree: tables   120 u64 last page   128 u64 commit number
enum PageLayout {
    static let headerByteCount = 16
    static let nodeHeaderByteCount = 8
    static let metaByteCount = 136
    static let treeByteCount = 48

    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
    static let meta: UInt16 = 0x08

    /// A flag of a leaf's node: the value is in a run of overflow pages, and the node has the first one's number.
    static let inOverflow: UInt16 = 0x01
    /// A flag of a leaf's node in the tree of tables: the value is a tree.
    static let isTree: UInt16 = 0x02

    /// A flag of the free list: its keys are integers in this machine's byte order.
    static let integerKeys: UInt16 = 0x08

    static let magic: UInt32 = 0xBEEF_C0DE
    static let version: UInt32 = 1
    static let noPage = UInt64.max
    /// The length of the array in which liblmdb keeps a path through a tree.
    static let greatestDepth = 32
    static let greatestKey = 511

    /// The number of overflow pages for a value of this size.
    static func overflowPages(_ valueByteCount: Int, pageByteCount: Int) -> Int {
        (headerByteCount - 1 + valueByteCount) / pageByteCount + 1
    }

    /// The longest node, so that a page holds at least two; a longer value lies outside.
    static func greatestNode(pageByteCount: Int) -> Int { ((pageByteCount - headerByteCount) / 2 & ~1) - 2 }

    static func even(_ count: Int) -> Int { (count + 1) & ~1 }
}

/// liblmdb's record of a tree: in a meta page, or as a row of the tree of tables.
package struct TreeRecord: Hashable, Sendable {
    var pad: UInt32 = 0
    var flags: UInt16 = 0
    package var depth: UInt16 = 0
    package var branchPages: UInt64 = 0
    package var leafPages: UInt64 = 0
    package var overflowPages: UInt64 = 0
    package var rows: UInt64 = 0
    package var root: UInt64 = PageLayout.noPage

    init() {}

    /// - Precondition: 48 bytes are there.
    init(_ bytes: Span<UInt8>, at offset: Int) {
        pad = bytes.load(UInt32.self, at: offset)
        flags = bytes.load(UInt16.self, at: offset + 4)
        depth = bytes.load(UInt16.self, at: offset + 6)
        branchPages = bytes.load(UInt64.self, at: offset + 8)
        leafPages = bytes.load(UInt64.self, at: offset + 16)
        overflowPages = bytes.load(UInt64.self, at: offset + 24)
        rows = bytes.load(UInt64.self, at: offset + 32)
        root = bytes.load(UInt64.self, at: offset + 40)
    }

    var bytes: [UInt8] {
        var output = [UInt8](repeating: 0, count: PageLayout.treeByteCount)
        var span = output.mutableSpan
        span.store(pad, at: 0)
        span.store(flags, at: 4)
        span.store(depth, at: 6)
        for (index, figure) in [branchPages, leafPages, overflowPages, rows, root].enumerated() {
            span.store(figure, at: 8 + 8 * index)
        }
        return output
    }
}

/// One of the two meta pages, which describes the file as of one commit.
package struct MetaPage: Hashable, Sendable {
    /// 0 or 1.
    let number: UInt64
    let kind: UInt16
    let address: UInt64
    package let mapByteCount: UInt64
    let freeList: TreeRecord
    let tables: TreeRecord
    package let lastPage: UInt64
    /// The number of the commit.
    package let transaction: UInt64
    package var pageByteCount: Int { Int(freeList.pad) }

    /// The bytes of a page that it takes.
    static let byteCount = PageLayout.headerByteCount + PageLayout.metaByteCount

    /// - Returns: nil for bytes that liblmdb would not take for a meta page, or whose page size cannot be.
    init?(_ bytes: Span<UInt8>) {
        let start = PageLayout.headerByteCount
        guard bytes.count >= Self.byteCount, bytes.load(UInt16.self, at: 10) & PageLayout.meta != 0,
            bytes.load(UInt32.self, at: start) == PageLayout.magic,
            bytes.load(UInt32.self, at: start + 4) == PageLayout.version
        else { return nil }
        number = bytes.load(UInt64.self, at: 0)
        kind = bytes.load(UInt16.self, at: 10)
        address = bytes.load(UInt64.self, at: start + 8)
        mapByteCount = bytes.load(UInt64.self, at: start + 16)
        freeList = TreeRecord(bytes, at: start + 24)
        tables = TreeRecord(bytes, at: start + 72)
        lastPage = bytes.load(UInt64.self, at: start + 120)
        transaction = bytes.load(UInt64.self, at: start + 128)
        guard (512...65536).contains(pageByteCount), pageByteCount & (pageByteCount - 1) == 0 else { return nil }
    }

    init(
        number: UInt64, mapByteCount: UInt64, tables: TreeRecord, lastPage: UInt64, transaction: UInt64,
        pageByteCount: Int
    ) {
        self.number = number
        kind = PageLayout.meta
        address = 0
        self.mapByteCount = mapByteCount
        var freeList = TreeRecord()
        freeList.pad = UInt32(pageByteCount)
        freeList.flags = PageLayout.integerKeys
        self.freeList = freeList
        self.tables = tables
        self.lastPage = lastPage
        self.transaction = transaction
    }

    /// The whole page.
    var page: [UInt8] {
        var output = [UInt8](repeating: 0, count: pageByteCount)
        var span = output.mutableSpan
        let start = PageLayout.headerByteCount
        span.store(number, at: 0)
        span.store(PageLayout.meta, at: 10)
        span.store(PageLayout.magic, at: start)
        span.store(PageLayout.version, at: start + 4)
        span.store(mapByteCount, at: start + 16)
        let (freeList, tables) = (freeList.bytes, tables.bytes)
        span.copy(0..<freeList.count, of: freeList.span, to: start + 24)
        span.copy(0..<tables.count, of: tables.span, to: start + 72)
        span.store(lastPage, at: start + 120)
        span.store(transaction, at: start + 128)
        return output
    }
}
