package import Holdfast
package import HoldfastControl
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
    /// When to look no further; nil for never.
    package var deadline: ContinuousClock.Instant?
    /// Ended notifications that could not be looked at, since the journal is damaged.
    package private(set) var unreadable = 0
    /// Whether the deadline came before everything was looked at.
    package private(set) var isCutShort = false

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
        } while before != .start && !isOver()
    }

    /// Whether the deadline has come. Asked only while something is left.
    private mutating func isOver() -> Bool {
        guard let deadline, .now >= deadline else { return false }
        isCutShort = true
        return true
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
    package mutating func waiting(limit: Int) throws(JournalError) -> [JournalEntry] {
        guard question.query.ending == nil, limit > 0 else { return [] }
        let states = Set(JournalEntry.StateKind.allCases).subtracting([.rejected])
        var listing = reader.listing(matching: question.filter(states), limit: limit)
        var found: [JournalEntry] = []
        while let page = try listing.next() {
            found += page
            if listing.position != nil, isOver() { break }
        }
        return found
    }

    /// Rejections that the history does not have: they are kept for longer than other ends, and also while it is off.
    package mutating func oldRejections(limit: Int) throws(JournalError) -> [JournalEntry] {
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
            if listing.position != nil, isOver() { break }
        }
        return found
    }
}

extension JournalEntry {
    /// When it was rejected; nil for any other entry.
    fileprivate var rejectedAt: WallTime? { if case .rejected(let cause) = state { cause.rejectedAt } else { nil } }
}

extension HistorySearch.Question {
    /// Digits of the shortest text that is taken for a whole token: the length of Apple's today.
    private static let wholeDigits = 64

    /// Asks for a token: whole, which is found at once, or by some of its digits.
    package mutating func take(token text: String) throws(OutcomeArgument.Fault) {
        if text.utf8.count >= Self.wholeDigits, !text.contains("…"), !text.contains(".") {
            query.recipient = try OutcomeArgument.token(text)
            return
        }
        guard let pattern = TokenPattern(text) else {
            throw OutcomeArgument.Fault(
                message: "It takes hex digits: all of a token, the first ones, or 00fc…9a1b.")
        }
        token = pattern
    }

    /// Asks for a tag: whole, or with `*` behind it, for its beginning.
    package mutating func take(tag text: String) {
        if text.hasSuffix("*"), !text.hasSuffix("\\*") {
            tag = TagPattern(text)
        } else {
            query.tag = Array((text.hasSuffix("\\*") ? text.dropLast(2) + "*" : text[...]).utf8)
        }
    }

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
