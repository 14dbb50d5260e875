internal import Holdfast

/// The log of outcomes in the order of their cursors, with its readers.
struct OutcomeTable: Sendable {
    /// The bytes that an outcome without a context and a payload is taken to need.
    static let byteCount = 128

    private var outcomes: ArraySlice<Outcome> = []
    /// Of each UID, the newest: an entry of a restored journal may end twice.
    private var newest: [UID: OutcomeCursor] = [:]
    private(set) var figures = OutcomeLogFigures()
    /// In the order in which they came.
    private(set) var readers: [OutcomeReader] = []

    var count: Int { outcomes.count }

    /// Those that must wait for a reader.
    var unread: Int { figures.unread(by: readers) }

    subscript(_ uid: UID) -> Outcome? { newest[uid].flatMap { self[$0] } }

    private subscript(_ cursor: OutcomeCursor) -> Outcome? {
        guard cursor > figures.deleted, cursor <= figures.newest else { return nil }
        return outcomes[outcomes.startIndex + Int(cursor.rawValue - figures.deleted.rawValue - 1)]
    }

    /// Appends the outcome that is made with the next cursor.
    mutating func append(_ make: (OutcomeCursor) -> Outcome?) {
        let cursor = OutcomeCursor(figures.newest.rawValue + 1)
        guard let outcome = make(cursor) else { return }
        figures.newest = cursor
        figures.bytes += Self.byteCount(of: outcome)
        outcomes.append(outcome)
        newest[outcome.uid] = cursor
    }

    private static func byteCount(of outcome: Outcome) -> Int {
        byteCount + outcome.context.count + outcome.payload.count
    }

    /// Becomes what another journal's log ends with.
    mutating func take(_ page: OutcomePage, _ readers: [OutcomeReader]) {
        let start = OutcomeCursor((page.outcomes.first?.cursor.rawValue ?? page.end.rawValue + 1) - 1)
        (figures.deleted, figures.newest) = (start, start)
        for outcome in page.outcomes { append { _ in outcome } }
        self.readers = readers
    }

    func page(after cursor: OutcomeCursor, limit: Int) -> OutcomePage {
        let skipped = Int(clamping: max(cursor, figures.deleted).rawValue - figures.deleted.rawValue)
        let found = Array(outcomes.dropFirst(skipped).prefix(limit))
        return OutcomePage(outcomes: found, end: found.last?.cursor ?? cursor)
    }

    func find(_ query: OutcomeQuery, before: OutcomeCursor?, limit: Int) -> OutcomePage {
        var page = OutcomePage(outcomes: [], end: .start)
        for outcome in outcomes.reversed() where before.map({ outcome.cursor < $0 }) ?? true {
            guard query.matches(outcome) else { continue }
            page.outcomes.append(outcome)
            if page.outcomes.count >= limit {
                page.end = outcome.cursor
                return page
            }
        }
        return page
    }

    /// - Returns: how far it has come; nil for one reader too many.
    mutating func open(_ name: String, isWaitedFor: Bool) -> OutcomeCursor? {
        if let index = readers.firstIndex(where: { $0.name == name }) {
            readers[index].isWaitedFor = isWaitedFor
            return readers[index].cursor
        }
        guard readers.count < OutcomeReader.greatestCount else { return nil }
        readers.append(OutcomeReader(name: name, cursor: figures.newest, isWaitedFor: isWaitedFor))
        return figures.newest
    }

    mutating func set(_ name: String, to cursor: OutcomeCursor?) throws(JournalError) {
        guard let index = readers.firstIndex(where: { $0.name == name }) else {
            throw JournalError(.notFound, "the journal has no reader \(name.debugDescription)")
        }
        guard let cursor else {
            readers.remove(at: index)
            return
        }
        guard cursor <= figures.newest else {
            throw JournalError(
                .invalidEntry, "cursor \(cursor) is beyond the newest outcome, which is \(figures.newest)")
        }
        readers[index].cursor = cursor
    }

    /// - Returns: how many were deleted.
    mutating func trim(_ bounds: TrimBounds) -> Int {
        let waited = readers.filter(\.isWaitedFor).map(\.cursor).min()
        var deleted = 0
        while let first = outcomes.first {
            let isOld = bounds.outcomesBefore.map { first.settledAt < $0 } ?? false
            let isTooMany = bounds.greatestOutcomeBytes.map { figures.bytes > $0 } ?? false
            guard isOld || isTooMany, waited.map({ first.cursor <= $0 }) ?? true else { break }
            outcomes.removeFirst()
            if newest[first.uid] == first.cursor { newest[first.uid] = nil }
            figures.deleted = first.cursor
            figures.bytes -= Self.byteCount(of: first)
            deleted += 1
        }
        return deleted
    }

    /// All of them, in order.
    var all: [Outcome] { Array(outcomes) }
}
