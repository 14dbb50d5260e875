/// Checks a data file without liblmdb, which dies by signal on a damaged file.
///
/// Bounded: it reads the two meta pages and the heads of two root pages, whatever the size of the file. Damage below
/// the roots is found only when a record's checksum is checked.
package enum DataFileCheck {
    package enum Verdict: Hashable, Sendable {
        case sound
        /// There is no data file, or an empty one: liblmdb will make it.
        case absent
        /// The power went while liblmdb was making it, before its first commit: nothing was ever in it.
        case halfMade
        /// The fault in words, for people.
        case damaged(String)
    }

    /// Far more than a first commit writes, far less than is allocated after it.
    private static let greatestHalfMade = 1 << 20

    package static func check(_ path: String) throws(LMDBError) -> Verdict {
        guard Files.exists(path) else { return .absent }
        let file = try OpenFile(path, .read)
        let size = try file.byteCount()
        if size == 0 { return .absent }
        if try isHalfMade(file, size) { return .halfMade }
        guard let first = try meta(in: file, at: 0) else { return .damaged("its first page is not a meta page") }
        guard let second = try meta(in: file, at: first.pageByteCount) else {
            return .damaged("its second page is not a meta page")
        }
        let newest = first.transaction >= second.transaction ? first : second
        guard newest.lastPage >= 1, newest.lastPage < UInt64(Int.max / newest.pageByteCount - 1) else {
            return .damaged("its meta page makes no sense")
        }
        let needed = (Int(newest.lastPage) + 1) * newest.pageByteCount
        guard size >= needed else { return .damaged("it is \(size) bytes long, but its meta page says \(needed)") }
        for root in [newest.freeList.root, newest.tables.root] where root != PageLayout.noPage {
            if let fault = try fault(ofRoot: root, newest, in: file) { return .damaged(fault) }
        }
        return .sound
    }

    /// Whether liblmdb had certainly not finished making the file.
    ///
    /// It writes both meta pages, with commit number 0, in one go and unsynced. They are on disk before the first
    /// commit writes one of them again. So a file in which a meta page is missing (all zeros) never had a commit,
    /// unless it was damaged. Damage would show in the other meta page or in the size: a file that was in use is
    /// allocated far ahead.
    private static func isHalfMade(_ file: OpenFile, _ size: Int) throws(LMDBError) -> Bool {
        guard size < greatestHalfMade else { return false }
        let pageByteCount = Files.pageByteCount
        var isWhole = size >= 2 * pageByteCount
        for offset in [0, pageByteCount] {
            if let meta = try meta(in: file, at: offset) {
                guard meta.transaction == 0 else { return false }
            } else {
                guard try file.read(MetaPage.byteCount, at: offset).allSatisfy({ byte in byte == 0 }) else {
                    return false
                }
                isWhole = false
            }
        }
        return !isWhole
    }

    private static func meta(in file: OpenFile, at offset: Int) throws(LMDBError) -> MetaPage? {
        let bytes = try file.read(MetaPage.byteCount, at: offset)
        return MetaPage(bytes.span)
    }

    private static func fault(ofRoot root: UInt64, _ meta: MetaPage, in file: OpenFile) throws(LMDBError) -> String? {
        guard root >= 2, root <= meta.lastPage else { return "a tree's root is page \(root), which is not in the file" }
        let head = try file.read(PageLayout.headerByteCount, at: Int(root) * meta.pageByteCount)
        guard head.count == PageLayout.headerByteCount else { return "a tree's root, page \(root), is not in the file" }
        let bytes = head.span
        let isTreePage = bytes.load(UInt16.self, at: 10) & (PageLayout.branch | PageLayout.leaf) != 0
        let lower = Int(bytes.load(UInt16.self, at: 12))
        let upper = Int(bytes.load(UInt16.self, at: 14))
        guard bytes.load(UInt64.self, at: 0) == root, isTreePage, lower >= PageLayout.headerByteCount, lower <= upper,
            upper <= meta.pageByteCount
        else { return "a tree's root, page \(root), is not a tree page" }
        return nil
    }
}
