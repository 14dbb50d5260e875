package import Holdfast
package import HoldfastJournal

/// Looks for notifications by what is known of them: among those that have ended, and among those that wait.
package struct HistorySearch {
    /// What to look for.
    package struct Question: Equatable, Sendable {
        package var query = OutcomeQuery()
        /// Tokens by some of their digits, and tags by their beginning: every ended notification has to be looked at.
        package var token: TokenPattern?
        package var tag: TagPattern?

        package init() {}

        /// Whether an ended notification is one of those.
        package func matches(_ outcome: Outcome) -> Bool {
            if let token, !(outcome.recipient.token.map(token.matches) ?? false) { return false }
            return tag?.matches(outcome.tag) ?? true
        }
    }

    /// Bytes of the history that one page is looked for in, so that progress can be told.
    private static let pageBytes = 16 << 20

    package let reader: JournalReader
    package let question: Question
    /// Told how many ended notifications were looked at, of how many.
    package var onProgress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    /// Ended notifications that could not be looked at, since the journal is damaged.
    package private(set) var unreadable = 0

    package init(reader: JournalReader, question: Question) { (self.reader, self.question) = (reader, question) }

    // MARK: Ended

    /// Calls `body` with the ended ones, the newest first, page by page, until it says that it wants no more.
    ///
    /// - Parameter limit: of a page.
    package mutating func ended(limit: Int, _ body: ([Outcome]) throws -> Bool) throws {
        let bounds = try reader.outcomeLog()
        var before: OutcomeCursor?
        repeat {
            let page = try reader.findOutcomes(
                question.query, before: before, limit: limit, mostBytes: Self.pageBytes)
            let found = page.outcomes.filter(question.matches)
            unreadable += page.unreadable
            let left = page.end > bounds.deleted ? Int(clamping: page.end.rawValue - bounds.deleted.rawValue) : 0
            onProgress(max(0, bounds.count - left), bounds.count)
            if !found.isEmpty, try !body(found) { return }
            before = page.end
        } while before != .start
    }

    /// The newest of the ended ones.
    package mutating func ended(limit: Int) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        try ended(limit: limit) { page in
            outcomes += page.prefix(limit - outcomes.count)
            return outcomes.count < limit
        }
        return outcomes
    }

    // MARK: The journal's own entries

    /// Those that have not ended.
    package func waiting(limit: Int) throws(JournalError) -> [JournalEntry] {
        guard question.query.ending == nil, limit > 0 else { return [] }
        let states = Set(JournalEntry.StateKind.allCases).subtracting([.rejected])
        return try reader.entries(matching: question.filter(states), limit: limit)
    }

    /// Rejections that the history does not have: they are kept for longer than other ends, and also while it is off.
    package func oldRejections(limit: Int) throws(JournalError) -> [JournalEntry] {
        guard (question.query.ending ?? "rejected") == "rejected", limit > 0 else { return [] }
        var filter = question.filter([.rejected])
        (filter.acceptedAfter, filter.acceptedBefore) = (nil, nil)
        var listing = reader.listing(matching: filter)
        var found: [JournalEntry] = []
        while found.count < limit, let page = try listing.next() {
            for entry in page where found.count < limit {
                guard let time = entry.rejectedAt, question.covers(time) else { continue }
                if try reader.outcome(of: entry.uid) == nil { found.append(entry) }
            }
        }
        return found
    }
}

extension JournalEntry {
    /// When it was rejected; nil for any other entry.
    fileprivate var rejectedAt: WallTime? { if case .rejected(let cause) = state { cause.rejectedAt } else { nil } }
}

extension HistorySearch.Question {
    /// Whether what ended then is meant.
    fileprivate func covers(_ time: WallTime) -> Bool {
        (query.since.map { time >= $0 } ?? true) && (query.until.map { time < $0 } ?? true)
    }

    /// The same question for the journal's entries, whose time is that of their acceptance.
    package func filter(_ states: Set<JournalEntry.StateKind>) -> EntryFilter {
        var filter = EntryFilter()
        filter.states = states
        if let uid = query.uid { filter.uids = UIDRanges([uid]) }
        if let id = query.id { filter.ids = [id] }
        if let topic = query.topic { filter.topics = [topic] }
        if let producer = query.producer { filter.producers = [producer] }
        switch query.recipient {
        case .device(let device)?: filter.tokens = TokenPattern(device.hex).map { [$0] } ?? []
        case .channel(let channel)?: filter.channels = [channel]
        case .service(let address)?: filter.addresses = [address]
        case nil: filter.tokens = token.map { [$0] } ?? []
        }
        if let tag { filter.tags = [tag] }
        if let tag = query.tag { filter.tags = [TagPattern(literal: tag)] }
        // At that time or later, to the millisecond.
        filter.acceptedAfter = query.since?.advanced(by: .milliseconds(-1))
        filter.acceptedBefore = query.until
        return filter
    }
}

extension TagPattern {
    /// Exactly this tag.
    package init(literal tag: [UInt8]) {
        let text = String(decoding: tag, as: UTF8.self)
        self.init(text.hasSuffix("*") ? text.dropLast() + "\\*" : text[...])
    }
}
