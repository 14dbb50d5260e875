/// A data file as of one commit, read page by page with `pread`, where liblmdb must not walk it.
///
/// Nothing in it is trusted: a missing or unreadable page is an answer, not an error.
package struct DataFile: Sendable {
    package let path: String
    package let meta: MetaPage
    /// The last page that may be read: the meta page's word, or the end of the file if that comes first.
    package let lastPage: UInt64
    package let byteCount: Int
    private let file: OpenFile

    package var pageByteCount: Int { meta.pageByteCount }
    package var freeListTree: TreeRecord { meta.freeList }

    init(_ file: OpenFile, meta: MetaPage, byteCount: Int) {
        self.file = file
        self.meta = meta
        self.byteCount = byteCount
        path = file.path
        // Two meta pages were read from it.
        lastPage = min(meta.lastPage, UInt64(max(2, byteCount / meta.pageByteCount) - 1))
    }

    /// The bytes of `count` pages from `number` on.
    ///
    /// - Throws: ``TreePage/Fault`` when they are not all there, or the disk cannot read them.
    func pages(_ number: UInt64, count: Int = 1) throws(TreePage.Fault) -> [UInt8] {
        guard number <= lastPage, UInt64(count) - 1 <= lastPage - number else {
            throw TreePage.Fault(what: "it is beyond the last page, \(lastPage)")
        }
        do throws(LMDBError) {
            let bytes = try file.read(count * pageByteCount, at: Int(number) * pageByteCount)
            guard bytes.count == count * pageByteCount else {
                throw LMDBError(.inputOutput, "pread", path: path)
            }
            return bytes
        } catch {
            throw TreePage.Fault(what: "it cannot be read: \(error.code)")
        }
    }

    func treePage(_ number: UInt64, isChecked: Bool = true) throws(TreePage.Fault) -> TreePage {
        guard number >= 2 else { throw TreePage.Fault(what: "it is a meta page") }
        return try TreePage(try pages(number), number: number, isChecked: isChecked)
    }

    /// The most bytes of one value; a longer one is damage, or a note beyond reason.
    package static let greatestValue = 65 << 20

    /// The value of a node that lies in overflow pages, and how many of them its run has.
    func outsideValue(_ node: TreePage.Node) throws(TreePage.Fault) -> (value: [UInt8], pages: Int) {
        guard let count = node.outside, node.page >= 2 else { throw TreePage.Fault(what: "it is a meta page") }
        guard count <= Self.greatestValue else { throw TreePage.Fault(what: "its value has \(count) bytes") }
        let head = try pages(node.page)
        let span = head.span
        let (stated, kind) = (span.load(UInt64.self, at: 0), span.load(UInt16.self, at: 10))
        guard stated == node.page, kind == PageLayout.overflow else {
            throw TreePage.Fault(what: "it is not the first of a run of overflow pages")
        }
        let needed = PageLayout.overflowPages(count, pageByteCount: pageByteCount)
        let run = span.load(UInt32.self, at: 12)
        // A value that was written over by a shorter one may have more than it needs.
        guard run >= needed, UInt64(run) - 1 <= lastPage - node.page else {
            throw TreePage.Fault(what: "its run has \(run) pages where \(needed) are needed")
        }
        let bytes = needed == 1 ? head : try pages(node.page, count: needed)
        return (Array(bytes[PageLayout.headerByteCount..<(PageLayout.headerByteCount + count)]), Int(run))
    }
}
