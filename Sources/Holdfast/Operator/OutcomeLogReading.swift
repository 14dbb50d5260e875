/// Reads a journal's log of outcomes for an ``OutcomeDesk``.
package struct OutcomeLogReading: Sendable {
    /// Bytes of the log that one search looks through.
    static let searchBytes = 256 << 20
    /// Pages that one listing passes over, of outcomes that are not wanted.
    private static let greatestPassedPages = 64

    /// The bounds of the log.
    private let log: @Sendable () throws(JournalError) -> OutcomeLogFigures
    private let page: @Sendable (OutcomeCursor, Int) throws(JournalError) -> OutcomePage
    private let keeping: @Sendable () throws(JournalError) -> OutcomeKeeping.Standing

    /// Of a journal in any form.
    package init(
        log: @escaping @Sendable () throws(JournalError) -> OutcomeLogFigures,
        page: @escaping @Sendable (_ after: OutcomeCursor, _ limit: Int) throws(JournalError) -> OutcomePage,
        keeping: @escaping @Sendable () throws(JournalError) -> OutcomeKeeping.Standing
    ) {
        (self.log, self.page, self.keeping) = (log, page, keeping)
    }

    package init(_ journal: any JournalService) {
        self.init(
            log: { () throws(JournalError) in journal.outcomeLog },
            page: { (after, limit) throws(JournalError) in try journal.outcomes(after: after, limit: limit) },
            keeping: { () throws(JournalError) in try OutcomeKeeping.standing(in: journal) })
    }

    /// See ``OutcomeDesk/outcomes(after:limit:of:waitingAtMost:)``, without the waiting.
    package func listing(
        after cursor: OutcomeCursor?, limit: Int, of producers: Set<String>?
    ) throws(JournalError) -> OutcomeListing {
        let figures = try log()
        let (newest, begin) = (figures.newest, cursor ?? figures.deleted)
        guard begin <= newest else {
            throw JournalError(
                .invalidEntry,
                "there is no outcome \(begin) in this journal, whose newest is \(newest): the cursor is another journal's, "
                    + "or this one was restored from a backup; begin with an older one, or with 0")
        }
        var listing = OutcomeListing(outcomes: [], end: begin, newest: newest)
        for _ in 0..<Self.greatestPassedPages {
            let start = listing.end
            // A gap is told before what lies behind it.
            var page = try page(start, limit).upToGap()
            // After the page was read: what was deleted meanwhile was not necessarily missed.
            let (bounds, standing) = (try log(), try keeping())
            let first = page.outcomes.first.map { OutcomeCursor($0.cursor.rawValue - 1) }
            let gone = min(bounds.deleted, first ?? bounds.deleted)
            // What comes behind a time when the log was off is the next listing's, which begins with it.
            if let gap = standing.gaps.first(where: { $0 > max(start, gone) && $0 < page.end }) {
                page.outcomes.removeAll { $0.cursor > gap }
                page.end = gap
            }
            let missing = page.missing(after: start, deleted: bounds.deleted)
            listing.end = max(page.end, page.outcomes.isEmpty ? max(bounds.deleted, start) : start)
            // Without a cursor the beginning is where the log begins, wherever that is.
            if cursor != nil || start > begin {
                listing.missed += missing.deleted
                if standing.gaps.contains(where: { $0 >= start && $0 < listing.end }) { listing.wasOff = true }
            }
            listing.missed += missing.unreadable
            listing.unreadable += missing.unreadable
            listing.newest = max(bounds.newest, listing.newest)
            listing.isKept = standing.isKept
            listing.outcomes = page.outcomes.filter { producers?.contains($0.producer) ?? true }
            if !listing.outcomes.isEmpty || listing.wasOff || listing.end == start { break }
        }
        return listing
    }

    /// See ``OutcomeDesk/outcomeLog()``.
    package func status(isKept: Bool, readers: [OutcomeReader]) throws(JournalError) -> OutcomeLogStatus {
        let bounds = try log()
        return OutcomeLogStatus(
            deleted: bounds.deleted, newest: bounds.newest,
            oldestAt: try page(bounds.deleted, 1).outcomes.first?.settledAt,
            bytes: bounds.bytes, lost: bounds.lost, unreadable: bounds.unreadable, isKept: isKept,
            readers: readers.sorted { $0.name < $1.name })
    }
}
