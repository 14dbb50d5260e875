package import Holdfast
package import HoldfastControl
package import HoldfastJournal

/// Looks for notifications as ``HistorySearch`` does, by asking the owner of a journal.
package struct RemoteSearch: Sendable {
    /// Some of what was found.
    package struct Found: Sendable {
        /// Those that have not ended.
        package var waiting: [JournalEntry] = []
        /// Those that have: of the history, the newest first, and behind them rejections that it does not have.
        package var ended: [Ended] = []
        /// Ended notifications that could not be looked at, since the journal is damaged.
        package var unreadable = 0
        /// How far back the history reaches; nil where it was not asked.
        package var history: OutcomeLogStatus?
        /// Everything about the one that was found; nil for none and for several.
        package var facts: EntryFacts?

        /// Whether the deadline came before everything was looked at.
        package var isCutShort = false

        /// Those that were printed already, and are not kept.
        package var printed = 0

        package var count: Int { waiting.count + ended.count }

        package init() {}

        fileprivate init(waiting: [JournalEntry]) { self.waiting = waiting }

        fileprivate init(ended: [Ended], unreadable: Int) { (self.ended, self.unreadable) = (ended, unreadable) }
    }

    package struct Ended: Sendable {
        package var outcome: Outcome
        /// Where the blacklist has its token.
        package var blacklisted: BlacklistEntry?
    }

    package let question: HistorySearch.Question
    /// When to look no further; nil for never.
    package var deadline: ContinuousClock.Instant?

    package init(question: HistorySearch.Question) { self.question = question }

    private var isOver: Bool { deadline.map { .now >= $0 } ?? false }

    /// - Parameter limit: the most of each kind.
    package func find(of desk: RemoteDesk, limit: Int) async throws -> Found {
        var all = Found()
        try await run(of: desk, limit: limit) { part in
            all.waiting += part.waiting
            all.ended += part.ended
            all.unreadable += part.unreadable
            all.isCutShort = all.isCutShort || part.isCutShort
        }
        if all.count == 1 {
            if let uid = all.waiting.first?.uid { all.facts = try await EntryFacts.find(uid, of: desk) }
            if let ended = all.ended.first {
                var facts = EntryFacts(
                    uid: ended.outcome.uid, standing: .ended(ended.outcome), owner: desk.owner,
                    now: EngineClock.system.wall())
                facts.blacklisted = ended.blacklisted
                all.facts = facts
            }
        }
        if all.count == 0 { all.history = try await desk.outcomeLog() }
        return all
    }

    /// Calls `body` with what is found, part by part: ended ones first, since a UID is one notification's.
    ///
    /// - Parameter limit: the most of each kind.
    package func run(of desk: RemoteDesk, limit: Int, _ body: (Found) throws -> Void) async throws {
        let reader = RemoteReader(desk)
        if try await ended(desk, reader, limit, body) > 0, question.query.uid != nil { return }
        if question.query.ending == nil {
            let states = Set(JournalEntry.StateKind.allCases).subtracting([.rejected])
            let filter = question.filter(states)
            var (after, left): (UID?, Int) = (UID.none, limit)
            while let last = after, left > 0 {
                let part = try await reader.entries(filter, after: last, limit: left)
                if !part.entries.isEmpty { try body(Found(waiting: part.entries)) }
                left -= part.entries.count
                after = part.end
                if after != nil, try cut(body) { return }
            }
        }
        guard question.query.ending ?? "rejected" == "rejected" else { return }
        try await rejections(desk, reader, limit, body)
    }

    private func ended(
        _ desk: RemoteDesk, _ reader: RemoteReader, _ limit: Int, _ body: (Found) throws -> Void
    ) async throws -> Int {
        var before: OutcomeCursor?
        var count = 0
        repeat {
            let page = try await desk.findOutcomes(
                question.query, before: before, limit: min(limit - count, OperatorDeskLimits.batch))
            try await tell(page.outcomes, unreadable: page.unreadable, reader, &count, limit, body)
            before = page.end
            if before != .start, try cut(body) { break }
        } while before != .start && count < limit
        return count
    }

    private func rejections(
        _ desk: RemoteDesk, _ reader: RemoteReader, _ limit: Int, _ body: (Found) throws -> Void
    ) async throws {
        var after: UID? = UID.none
        var count = 0
        while let last = after, count < limit {
            let page = try await desk.findRejections(
                question.query, after: last, limit: min(limit - count, OperatorDeskLimits.batch))
            try await tell(page.outcomes, unreadable: 0, reader, &count, limit, body)
            after = page.end
            if after != nil, try cut(body) { return }
        }
    }

    /// Says that the deadline has come, if it has. Asked only while something is left.
    private func cut(_ body: (Found) throws -> Void) throws -> Bool {
        guard isOver else { return false }
        var part = Found()
        part.isCutShort = true
        try body(part)
        return true
    }

    /// Tells of those among the outcomes that match all of the question.
    private func tell(
        _ outcomes: [Outcome], unreadable: Int, _ reader: RemoteReader, _ count: inout Int, _ limit: Int,
        _ body: (Found) throws -> Void
    ) async throws {
        let matching = outcomes.filter(question.matches).prefix(limit - count)
        count += matching.count
        guard !matching.isEmpty || unreadable > 0 else { return }
        let recipients = matching.map(\.recipient)
        let entries = try await reader.blacklistEntries(for: recipients)
        let now = EngineClock.system.wall()
        let ended = zip(matching, entries).map { outcome, entries in
            Ended(outcome: outcome, blacklisted: entries.latest(for: outcome.recipient, topic: outcome.topic, at: now))
        }
        try body(Found(ended: ended, unreadable: unreadable))
    }
}
