internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// Changes of many entries: rejections sent again or deleted, and what waits taken back. A request works for some seconds and
/// says where it ended; who wants the rest asks again from there.
enum PageSweeps {
    /// Below the time that a request has.
    private static let longest = Duration.seconds(4)
    private static let names = PageItems.entryNames + ["all", "up-to", "after"]

    static let operations: [PageOperation] = [
        .change("api/rejections/retry", names) { call in
            var report = RetryReport()
            report.next = try await sweep(call, [.rejected]) { entries in
                report.matched += entries.count
                for retry in try await call.journal.desk.retry(entries.map(\.uid)) { report.take(retry) }
            }
            call.audit.tell("sent again", report.accepted, "rejection", of: report.matched, chosen(call))
            return try PageReply.json(report)
        },
        .change("api/rejections/discard", names) { call in
            var report = DiscardForm(matched: 0, discarded: 0)
            let next = try await sweep(call, [.rejected]) { entries in
                report.matched += entries.count
                report.discarded += try await call.journal.desk.discard(entries.map(\.uid))
            }
            call.audit.tell("deleted", report.discarded, "rejection", of: report.matched, chosen(call))
            return try PageReply.json(Partial(form: report, next: next))
        },
        .change("api/entries/withdraw", names) { call in
            var (matched, total) = (Set<UID>(), Withdrawal())
            let next = try await sweep(call, EntryStates.unconfirmed, untilNoneIsLeft: true) { entries in
                matched.formUnion(entries.map(\.uid))
                total += try await call.journal.desk.withdraw(entries.map(\.uid))
            }
            // One may have been met twice.
            let taken = total.withdrawn + total.unknown
            total.gone = matched.count - taken
            call.audit.tell("taken back", taken, "notification", of: matched.count, chosen(call))
            return try PageReply.json(Partial(form: WithdrawalForm(total, matched: matched.count), next: next))
        },
    ]

    private struct RetryReport: Encodable {
        var matched = 0
        var accepted = 0
        /// Those that would be refused again and stay rejections, by reason.
        var refused: [String: Int] = [:]
        /// Those that were no rejections any more.
        var gone = 0
        /// Where to go on, as `after`; absent at the end.
        var next: UInt64?

        mutating func take(_ retry: Retry) {
            switch retry.result {
            case .accepted: accepted += 1
            case .refused(let refusal): refused[refusal.reason.rawValue, default: 0] += 1
            case .gone: gone += 1
            }
        }
    }

    /// A form of the tool, and where to go on.
    private struct Partial<Report: Encodable>: Encodable {
        var form: Report
        var next: UInt64?

        private enum CodingKeys: String, CodingKey { case next }

        /// In one object.
        func encode(to encoder: any Encoder) throws {
            try form.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(next, forKey: .next)
        }
    }

    /// Goes through the entries that are meant: never all by silence, and none that came after they were counted.
    ///
    /// - Parameter looksAgain: whether it begins again at the end, as long as it finds any of those that were there.
    /// - Returns: where to go on; nil at the end.
    private static func sweep(
        _ call: PageOperation.Call, _ states: Set<JournalEntry.StateKind>,
        untilNoneIsLeft looksAgain: Bool = false, _ body: ([JournalEntry]) async throws -> Void
    ) async throws -> UInt64? {
        let items = call.items
        guard items.choosesAll == (items["all"] == "true") else {
            throw ControlError.malformed(
                "say which: by uids, tag, reason, topic and the like, or with \"all\": true; not both")
        }
        var filter = try items.filter(states)
        if let end = try items.value("up-to", OutcomeArgument.cursor) {
            filter.uids = filter.uids.below(UID(end.rawValue))
        } else if looksAgain {
            // What is accepted from here on would keep it busy for ever.
            let next = try await call.journal.read { reader in try reader.status().nextUID }
            filter.uids = filter.uids.below(next)
        }
        var after: UID? = try items.value("after", OutcomeArgument.cursor).map { UID($0.rawValue) } ?? UID.none
        let end = ContinuousClock.now + longest
        var found = 0
        while let last = after {
            let (entries, next) = try await call.journal.read { [filter] reader in
                var listing = reader.listing(matching: filter, after: last, limit: OperatorDeskLimits.batch)
                return (try listing.next() ?? [], listing.position)
            }
            if !entries.isEmpty { try await body(entries) }
            found += entries.count
            after = next
            if after == nil, looksAgain, found > 0 {
                after = UID.none
                found = 0
            }
            if .now >= end { break }
        }
        return after?.rawValue
    }

    /// Which were meant, for the log.
    private static func chosen(_ call: PageOperation.Call) -> String {
        let words = PageItems.entryNames.compactMap { name in
            // A token is told as short as everywhere, and nothing is repeated at length.
            call.items[name].map { text in
                let isSecret = name == "token" || name == "address"
                return "\(name) \(isSecret ? "\(text.prefix(4))…" : text.printable(maximumLength: 64))"
            }
        }
        return words.isEmpty ? "all" : words.joined(separator: ", ")
    }
}
