extension DataFile {
    /// The content of a file's meta pages.
    package struct Finding: Sendable {
        /// The file that they lead to; nil when neither does.
        package var file: DataFile?
        package var faults: [PageFault] = []
        /// The meta page that is not read: of the commit before.
        package var older: MetaPage?

        /// The finding for a missing file.
        package static let absent = Finding(faults: [PageFault(what: "the file is not there")])
    }

    /// Address space beyond what any machine has.
    private static let greatestMap: UInt64 = 1 << 48

    /// Reads the meta pages, and takes the newest one, or that of a commit that the caller has pinned.
    ///
    /// - Throws: when the file cannot be opened or is not there.
    package static func find(_ path: String, at transaction: UInt64? = nil) throws(LMDBError) -> Finding {
        let file = try OpenFile(path, .read)
        // The owner may be writing one of them: read until two reads agree and include the pinned commit.
        var looks = 0
        var last = try metas(in: file)
        while transaction != nil, looks < 1000 {
            looks += 1
            let next = try metas(in: file)
            if next == last, next.contains(where: { meta in meta?.transaction == transaction }) { break }
            last = next
        }
        return check(last, of: file, byteCount: try file.byteCount(), at: transaction)
    }

    private static func metas(in file: OpenFile) throws(LMDBError) -> [MetaPage?] {
        let front = try readable(file, at: 0)
        let first = MetaPage(front.span)
        let back = try readable(file, at: first?.pageByteCount ?? Files.pageByteCount)
        return [first, MetaPage(back.span)]
    }

    /// Bytes that the disk cannot read count as missing.
    private static func readable(_ file: OpenFile, at offset: Int) throws(LMDBError) -> [UInt8] {
        do throws(LMDBError) {
            return try file.read(MetaPage.byteCount, at: offset)
        } catch {
            guard error.code == .inputOutput else { throw error }
            return []
        }
    }

    private static func check(
        _ metas: [MetaPage?], of file: OpenFile, byteCount: Int, at transaction: UInt64?
    ) -> Finding {
        var finding = Finding()
        func fault(_ page: Int?, _ what: String) {
            finding.faults.append(PageFault(page: page.map { UInt64($0) }, what: what))
        }
        if byteCount == 0 {
            fault(nil, "it is empty: it was never completely made, or somebody has emptied it")
            return finding
        }
        for (index, meta) in metas.enumerated() {
            guard let meta else {
                fault(index, "it is not a meta page")
                continue
            }
            if meta.kind != PageLayout.meta { fault(index, "it is of the unknown kind \(meta.kind)") }
            if meta.number != UInt64(index) { fault(index, "it says that it is page \(meta.number)") }
            if meta.transaction != 0, meta.transaction & 1 != UInt64(index) {
                fault(index, "it has commit \(meta.transaction), which belongs on the other meta page")
            }
        }
        let known = metas.compactMap(\.self).sorted { lhs, rhs in lhs.transaction > rhs.transaction }
        if known.count == 2 {
            if known[0].transaction != known[1].transaction + 1 {
                let pair = "\(known[1].transaction) and \(known[0].transaction)"
                fault(nil, "its meta pages are of commits \(pair), not of two that follow each other")
            }
            if known[0].pageByteCount != known[1].pageByteCount { fault(nil, "its meta pages differ in the page size") }
        }
        guard let chosen = known.first(where: { meta in transaction == nil || meta.transaction == transaction }) else {
            return finding
        }
        finding.older = known.first { meta in meta != chosen }
        for what in faults(of: chosen, byteCount: byteCount) { fault(Int(clamping: chosen.number), what) }
        finding.file = DataFile(file, meta: chosen, byteCount: byteCount)
        return finding
    }

    private static func faults(of meta: MetaPage, byteCount: Int) -> [String] {
        var faults: [String] = []
        if meta.transaction == 0 { faults.append("it holds no commit: the file was never completely made") }
        if meta.address != 0 { faults.append("it wants the file at an address") }
        if meta.freeList.flags != PageLayout.integerKeys || meta.tables.flags != 0 || meta.tables.pad != 0 {
            faults.append("its trees have unknown flags")
        }
        let (needed, overflow) = (meta.lastPage &+ 1).multipliedReportingOverflow(by: UInt64(meta.pageByteCount))
        if meta.lastPage < 1 || meta.lastPage == .max || overflow || needed > greatestMap {
            faults.append("its last page, \(meta.lastPage), makes no sense")
        } else {
            if needed > UInt64(byteCount) {
                faults.append("the file has \(byteCount) bytes, but should have \(needed) at least")
            }
            if meta.mapByteCount < needed { faults.append("its map of \(meta.mapByteCount) bytes is too small") }
        }
        if meta.mapByteCount > greatestMap { faults.append("its map of \(meta.mapByteCount) bytes makes no sense") }
        return faults
    }
}
