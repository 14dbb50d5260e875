/// Reads a journal's log of outcomes for an ``OutcomeDesk``.
package struct OutcomeLogReading: Sendable {
    /// Bytes of the log that one search looks through.
    static let searchBytes = 256 << 20
    /// Pages that one listing passes over, of outcomes that are not wanted.
    private static let greatestPassedPages = 64

    /// The bounds of the log.
    private let log: @Sendable () throws(JournalError) -> OutcomeLogFigures
    private let page: @Sendable (OutcomeCursor, Int) throws(JournalError) -> OutcomePage

    /// Of a journal in any form.
    package init(
        log: @escaping @Sendable () throws(JournalError) -> OutcomeLogFigures,
        page: @escaping @Sendable (_ after: OutcomeCursor, _ limit: Int) throws(JournalError) -> OutcomePage
    ) {
        (self.log, self.page) = (log, page)
    }

    package init(_ journal: any JournalService) {
        self.init(
            log: { () throws(JournalError) in journal.outcomeLog },
            page: { (after, limit) throws(JournalError) in try journal.outcomes(after: after, limit: limit) })
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
            let page = try page(start, limit).upToGap()
            // After the page was read: what was deleted meanwhile was not necessarily missed.
            let bounds = try log()
            let missing = page.missing(after: start, deleted: bounds.deleted)
            // Without a cursor the beginning is where the log begins, wherever that is.
            if cursor != nil || start > begin { listing.missed += missing.deleted }
            listing.missed += missing.unreadable
            listing.unreadable += missing.unreadable
            listing.end = max(page.end, page.outcomes.isEmpty ? max(bounds.deleted, start) : start)
            listing.newest = max(bounds.newest, listing.newest)
            listing.outcomes = page.outcomes.filter { producers?.contains($0.producer) ?? true }
            if !listing.outcomes.isEmpty || listing.end == start { break }
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
