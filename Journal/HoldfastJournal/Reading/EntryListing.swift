package import Holdfast
import HoldfastLMDB

/// Entries that a filter wants, in UID order, a page at a time.
///
///     var listing = reader.listing(matching: filter)
///     while let page = try listing.next() { … }
///
/// Each page is from a snapshot of its own, which is gone when the page is there. A snapshot looks at some thousand rows
/// at most, so a page may be empty although more follow: a filter that finds nothing among millions pins no pages, fills
/// no memory, and can be given up in between. Of a journal in use the whole is not of one instant, but each UID is looked
/// at once: no entry comes twice, and only what is settled or accepted meanwhile may be missed.
package struct EntryListing {
    /// Entries given out from one snapshot.
    private static let pageCount = 2000

    private let reader: JournalReader
    private let filter: EntryFilter
    private var left: Int
    /// Everything up to it was looked at; nil at the end.
    private var last: UInt64?
    /// Entries on the page given out last that were left out because their records cannot be read. (One that nobody can
    /// read counts as wanted if it lies where the filter looks.)
    package private(set) var unreadable: [UID] = []
    /// The number of entries left out so far.
    package private(set) var unreadableCount = 0
    /// Says of the first of them why.
    package private(set) var firstFault: JournalError?

    /// Everything up to here was looked at; nil at the end.
    package var position: UID? { last.map { UID($0) } }

    init(_ reader: JournalReader, _ filter: EntryFilter, after: UID, limit: Int) {
        self.reader = reader
        self.filter = filter
        left = limit
        last = after.rawValue
    }

    /// The next page, perhaps an empty one; nil at the end, and when there were as many as wanted.
    ///
    /// - Throws: ``JournalError``. Records that cannot be read are left out and counted: see ``unreadable``.
    package mutating func next() throws(JournalError) -> [JournalEntry]? {
        unreadable = []
        guard left > 0, let after = last else { return nil }
        let wanted = min(left, Self.pageCount)
        let page = try reader.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try EntryPage(filter, after: after, limit: wanted, reader.store.tables, snapshot)
        }
        let names = try page.names(in: reader.directory)
        var entries: [JournalEntry] = []
        entries.reserveCapacity(page.rows.count)
        for row in page.rows {
            do throws(JournalError) {
                entries.append(try row.entry(names.lanes, names.producers, in: reader.directory))
            } catch {
                unreadable.append(UID(row.uid))
                unreadableCount += 1
                firstFault = firstFault ?? error
            }
        }
        left -= entries.count
        last = page.end
        return entries
    }
}
