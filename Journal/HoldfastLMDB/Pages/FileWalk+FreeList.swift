extension FileWalk {
    /// The tables of the file, by their names, in the order of these.
    package func tables() -> [(name: String, record: TreeRecord)] {
        var tables: [(name: String, record: TreeRecord)] = []
        walk(file.meta.tables, name: PageFault.tables) { key, value, place in
            guard place.isTree, value.count == PageLayout.treeByteCount else {
                let fault = PageFault(
                    table: PageFault.tables, page: place.page, what: "one of its rows is not a table's record",
                    lost: .only(key))
                report(fault)
                return
            }
            let record = TreeRecord(value, at: 0)
            let name = String(decoding: key, as: UTF8.self)
            if record.flags != 0 || record.pad != 0 {
                report(PageFault(table: name, page: place.page, what: "its record has flags that nobody sets"))
            }
            tables.append((name, record))
        }
        return tables
    }

    /// Walks the free list, and compares it with the pages that the trees use. Call it when all trees were walked.
    ///
    /// Every page that was ever used is either in a tree or free, and none is both. That proves that no tree lacks a
    /// page that the file has for it, and that liblmdb will not overwrite a page in use.
    package func checkFreeList() {
        var free = PageSet(last: file.lastPage)
        var isTorn = false
        var last: UInt64?
        let name = PageFault.freeList
        func fault(_ page: UInt64?, _ what: String) {
            isTorn = true
            report(PageFault(table: name, page: page, what: what, isFatal: true))
        }
        walk(file.meta.freeList, name: name, integerKeys: true) { key, value, place in
            guard key.count == 8, value.count >= 8, value.count % 8 == 0 else {
                return fault(place.page, "one of its rows makes no sense")
            }
            let transaction = [UInt8](key.reversed()).span.load(UInt64.self, at: 0)
            last = transaction
            if transaction == 0 || transaction > file.meta.transaction {
                fault(place.page, "one of its rows is of commit \(transaction), which is yet to come")
            }
            let count = value.load(UInt64.self, at: 0)
            guard count <= UInt64(value.count / 8 - 1) else {
                return fault(place.page, "a row says that it lists \(count) pages, for which it is too short")
            }
            // The list descends.
            var above = UInt64.max
            for index in 0..<Int(count) {
                let page = value.load(UInt64.self, at: 8 + 8 * index)
                guard page >= 2, page < above, page <= file.lastPage else {
                    return fault(place.page, "it lists page \(page) out of order, or a page that there is not")
                }
                above = page
                if !free.insert(page) { fault(place.page, "it lists page \(page) twice") }
            }
        }
        guard !isStopped else { return }
        if let last, last < file.meta.transaction { fault(nil, Self.words(file.meta, last)) }
        compare(free, isWhole: !isTorn && !hasLost)
    }

    /// Whether a meta page that is not read is of the commit that it says: the free list names its own. Were it a newer one,
    /// the newest commit would be forgotten.
    ///
    /// Not for a file that is being written, where its pages may be in use again.
    package func checkCommit(of older: MetaPage) {
        guard older.freeList.root <= file.lastPage,
            let key = TreeCursor(file, older.freeList).lastKey(), key.count == 8
        else { return }
        let last = key.span.load(UInt64.self, at: 0)
        if last != older.transaction {
            report(PageFault(page: older.number, what: Self.words(older, last)))
        }
    }

    /// Each commit frees pages, and lists them under its own number: all of them but the first, and those of a file that
    /// was not written by liblmdb.
    private static func words(_ meta: MetaPage, _ last: UInt64) -> String {
        "the meta page says that it is of commit \(meta.transaction), and its free list that it is of \(last)"
    }

    /// - Parameter isWhole: whether all trees and the list could be read, so that pages that are nowhere say something.
    private func compare(_ free: PageSet, isWhole: Bool) {
        var both: (first: UInt64, count: Int)?
        var neither: (first: UInt64, count: Int)?
        var page: UInt64 = 2
        while page <= file.lastPage {
            switch (reached.contains(page), free.contains(page)) {
            case (true, true): both = (both?.first ?? page, (both?.count ?? 0) + 1)
            case (false, false): neither = (neither?.first ?? page, (neither?.count ?? 0) + 1)
            default: break
            }
            page += 1
        }
        if let both {
            let what = "it lists \(both.count) pages as free that are in use, the first of them page \(both.first)"
            report(PageFault(table: PageFault.freeList, page: both.first, what: what, isFatal: true))
        }
        if isWhole, let neither {
            let what = "\(neither.count) pages are neither in use nor free, the first of them page \(neither.first)"
            report(PageFault(page: neither.first, what: what))
        }
    }
}
