internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// Finds notifications that wait and those that have ended, as `journal find` does.
enum PageSearch {
    static let names = [
        "uid", "apns-id", "token", "channel", "address", "tag", "producer", "topic", "since", "until", "outcome",
        "limit", "skip",
    ]
    /// Found notifications that are passed over, at most: each is looked at again for the next page.
    private static let greatestSkip = 10_000

    static let operations: [PageOperation] = [
        .reading("api/find", names) { call in
            let question = try question(call.items)
            let limit = try call.items.limit()
            let skip =
                try call.items.value("skip") { (text) throws(OutcomeArgument.Fault) in
                    try OutcomeArgument.count(text, in: 0...greatestSkip)
                } ?? 0
            return PageReply.json(try await call.journal.read { try find($0, question, skip: skip, limit) })
        }
    ]

    static func question(
        _ items: PageItems, now: WallTime = EngineClock.system.wall()
    ) throws(ControlError) -> HistorySearch.Question {
        var question = HistorySearch.Question()
        question.query.uid = try items.value("uid", OutcomeArgument.uid)
        question.query.id = try items.value("apns-id", OutcomeArgument.id)
        let channel = try items.value("channel", OutcomeArgument.channel)
        let address = try items.value("address", OutcomeArgument.address)
        question.query.recipient = channel ?? address
        _ = try items.value("token") { (text) throws(OutcomeArgument.Fault) in try question.take(token: text) }
        _ = try items.value("tag", OutcomeArgument.tag)
        if let tag = items["tag"] { question.take(tag: tag) }
        question.query.producer = try items.value("producer", OutcomeArgument.producer)
        question.query.topic = try items.value("topic", OutcomeArgument.topic)
        question.query.ending = try items.value("outcome", OutcomeArgument.ending)
        func time(_ name: String) throws(ControlError) -> WallTime? {
            try items.value(name) { (text) throws(OutcomeArgument.Fault) in try OutcomeArgument.time(text, now: now) }
        }
        question.query.since = try time("since")
        question.query.until = try time("until")
        if let since = question.query.since, let until = question.query.until, since >= until {
            throw .malformed("since is not before until: nothing is between")
        }
        return question
    }

    private static func find(
        _ reader: JournalReader, _ question: HistorySearch.Question, skip: Int, _ limit: Int
    ) throws -> String {
        var search = HistorySearch(reader: reader, question: question)
        search.deadline = .now + PageJournal.patience
        // One more than is told: whether there are more is told.
        let most = skip + limit + 1
        var ended = try search.ended(limit: most)
        let isFound = question.query.uid != nil && !ended.isEmpty
        var waiting = isFound ? [] : try search.waiting(limit: most - ended.count)
        var older = isFound ? [] : try search.oldRejections(limit: most - ended.count - waiting.count)
        let isMore = ended.count + waiting.count + older.count >= most
        let passed = (ended: ended.count, waiting: ended.count + waiting.count)
        ended = Array(ended.dropFirst(skip).prefix(limit))
        waiting = Array(waiting.dropFirst(max(skip - passed.ended, 0)).prefix(limit - ended.count))
        older = Array(older.dropFirst(max(skip - passed.waiting, 0)).prefix(limit - ended.count - waiting.count))
        var lines = try waiting.map { try EntryRow($0, reveal: false).json() }
        lines += try ended.map { outcome in
            let entry = try reader.blacklisted(outcome.recipient, topic: outcome.topic)
            return try OutcomeRow(outcome, blacklisted: entry, tellsStory: true, reveal: false).entryJSON()
        }
        lines += try older.map { try EntryRow($0, reveal: false).json() }
        let history = try Form.text(HistoryForm(try reader.history()))
        return "{\"found\":[\(lines.joined(separator: ","))],\"more\":\(isMore),\"isWhole\":\(!search.isCutShort),"
            + "\"unreadable\":\(search.unreadable),\"history\":\(history)}"
    }
}
