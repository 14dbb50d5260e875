internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// The blacklist: searched, and entries taken off.
enum PageBlacklist {
    static let operations: [PageOperation] = [
        .reading("api/blacklist", ["token", "address", "reason", "topic", "limit"]) { call in
            let items = call.items
            let limit = try items.limit()
            let token = try items.value("token") { (text) throws(OutcomeArgument.Fault) in
                var question = HistorySearch.Question()
                try question.take(token: text)
                return question
            }
            let recipient = try items.value("address", OutcomeArgument.address) ?? token?.query.recipient
            let wanted = Wanted(token: token?.token, reason: items["reason"]?.lowercased(), topic: items["topic"])
            return try PageReply.json(
                try await call.journal.read { reader in
                    guard let recipient else { return try list(reader, wanted, limit) }
                    let entries = try reader.blacklistEntries(for: recipient).filter(wanted.matches)
                    return Page(
                        entries: entries.map { BlacklistForm($0, isWhole: false) },
                        total: try reader.status().blacklist,
                        more: false, isWhole: true)
                })
        },
        .change("api/blacklist/remove", ["token", "address", "topic", "endpoint", "scoped"]) { call in
            let items = call.items
            let recipient =
                try items.value("address", OutcomeArgument.address)
                ?? OutcomeRecipient.token(try items.need("token"))
            // Without a scope all entries of the recipient go.
            let scope =
                items["scoped"] == "true"
                ? BlacklistScope(topic: items["topic"], endpoint: items["endpoint"]) : nil
            let removed = try await call.journal.desk.unblacklist([BlacklistKey(recipient, scope)])
            let which = scope.map { " for \($0.topic ?? "every topic") at \($0.endpoint ?? "every service")" } ?? ""
            let entries = removed > 1 ? ", with \(Format.plural(removed, "entry", "entries"))" : ""
            call.audit.tell(
                removed > 0
                    ? "\(recipient)\(which) was taken off the blacklist\(entries)"
                    : "nothing was taken off the blacklist: \(recipient)\(which) is not on it", count: removed)
            // An entry that is there is taken off.
            return try PageReply.json(BlacklistRemovalForm(matched: removed, removed: removed))
        },
    ]

    private enum OutcomeRecipient {
        static func token(_ text: String) throws(ControlError) -> Recipient {
            do throws(OutcomeArgument.Fault) { return try OutcomeArgument.token(text) } catch {
                throw .malformed("token: \(error.message)")
            }
        }
    }

    private struct Wanted: Sendable {
        var token: TokenPattern?
        /// In lower case.
        var reason: String?
        var topic: String?
        let now = EngineClock.system.wall()

        /// One that has ended is none.
        func matches(_ entry: BlacklistEntry) -> Bool {
            if entry.hasEnded(at: now) { return false }
            if let token, !(entry.recipient.token.map(token.matches) ?? false) { return false }
            if let reason, entry.reason.rawValue.lowercased() != reason { return false }
            return topic.map { entry.topic == $0 } ?? true
        }
    }

    /// Some entries, in the order of their tokens.
    private struct Page: Encodable {
        var entries: [BlacklistForm]
        /// Recipients on the whole blacklist.
        var total: Int
        /// Whether more match.
        var more: Bool
        /// Whether all was looked at, in the time that a request has.
        var isWhole: Bool
    }

    private static func list(_ reader: JournalReader, _ wanted: Wanted, _ limit: Int) throws -> Page {
        let deadline = PageDeadline()
        var found: [BlacklistEntry] = []
        var last: Recipient?
        var isWhole = false
        repeat {
            let page = try reader.blacklistPage(after: last, limit: OperatorDeskLimits.batch)
            found += page.entries.filter(wanted.matches)
            last = page.entries.last?.recipient ?? last
            isWhole = page.entries.count < OperatorDeskLimits.batch
        } while !isWhole && found.count <= limit && !deadline.hasPassed
        return Page(
            entries: found.prefix(limit).map { BlacklistForm($0, isWhole: false) },
            total: try reader.status().blacklist,
            more: found.count > limit, isWhole: isWhole || found.count > limit)
    }
}
