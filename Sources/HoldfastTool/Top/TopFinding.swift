internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// Looks for notifications by a text that is typed: a token, an apns-id, a UID or a tag.
struct TopFinding: Sendable {
    /// The most that are listed.
    static let limit = 200

    let place: JournalPlace

    func find(_ text: String) async -> TopMachine.Found {
        do {
            let lines: [String]
            switch place {
            case .directory(let path): lines = try await local(path, Self.question(text))
            case .served(let journal): lines = try await asked(journal, Self.question(text))
            case .fleet(let journal): lines = try await asked(journal, Self.question(text))
            }
            return TopMachine.Found(
                title: "find \(text)",
                lines: lines.isEmpty ? ["nothing matches: neither what waits nor what is kept of ends"] : lines)
        } catch {
            return TopMachine.Found(
                title: "find \(text)", lines: [ToolError(error, otherwise: .internalFault).message])
        }
    }

    /// An apns-id, a token by 8 digits or more, `uid:N`, or else a tag.
    static func question(_ text: String) -> HistorySearch.Question {
        var question = HistorySearch.Question()
        if let id = NotificationID(text) {
            question.query.id = id
        } else if text.hasPrefix("uid:"), let number = UInt64(text.dropFirst(4)) {
            question.query.uid = UID(number)
        } else if text.count >= 8, let pattern = TokenPattern(text) {
            // All of one is found by an index.
            if text.count == 64, let token = try? DeviceToken(text) {
                question.query.recipient = .device(token)
            } else {
                question.token = pattern
            }
        } else {
            question.tag = TagPattern(text)
        }
        return question
    }

    private func local(_ path: String, _ question: HistorySearch.Question) async throws -> [String] {
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        var search = HistorySearch(reader: reader, question: question)
        var waiting = try search.waiting(limit: Self.limit)
        let ended = try search.ended(limit: Self.limit)
        waiting += try search.oldRejections(limit: Self.limit - min(ended.count, Self.limit))
        switch (waiting.count, ended.count) {
        case (1, 0): return Self.lines(try await EntryFacts.find(waiting[0].uid, in: path))
        case (0, 1):
            var facts = EntryFacts(
                uid: ended[0].uid, standing: .ended(ended[0]), owner: reader.owner, now: EngineClock.system.wall())
            facts.blacklisted = try reader.blacklisted(ended[0].recipient, topic: ended[0].topic)
            return Self.lines(facts)
        default: return Self.table(waiting, ended)
        }
    }

    private func asked(_ journal: any AskedJournal, _ question: HistorySearch.Question) async throws -> [String] {
        let search = RemoteSearch(question: question)
        return try await journal.use { Self.lines(try await search.find(of: $0, limit: Self.limit)) }
    }

    private static func lines(_ found: RemoteSearch.Found) -> [String] {
        if let facts = found.facts { return lines(facts) }
        return table(found.waiting, found.ended.map(\.outcome))
    }

    /// One: where it stands, and what that means.
    private static func lines(_ facts: EntryFacts) -> [String] {
        let explanation = EntryExplanation(facts)
        return ["entry \(facts.uid): \(explanation.summary)", ""] + explanation.sentences
    }

    private static func table(_ waiting: [JournalEntry], _ ended: [Outcome]) -> [String] {
        guard !waiting.isEmpty || !ended.isEmpty else { return [] }
        return [OutcomeRow.heading] + waiting.map { OutcomeRow.line(EntryRow($0, reveal: false).facts) }
            + ended.map { OutcomeRow($0, reveal: false).line() }
    }
}
