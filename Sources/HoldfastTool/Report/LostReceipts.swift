internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// Finds out what became of lines that were taken while nobody could note their receipts: between the commit of a batch and
/// the report of it lies a crash, or a connection that broke.
struct LostReceipts {
    /// The lines, and how far they go.
    struct Found {
        struct Item {
            var line: Int
            var notification: PushNotification
            /// Nil for one that is not in the journal, and has no outcome.
            var uid: UID?
            var reason: Reason?
            /// Why the journal refused it, or why nobody can tell.
            var detail = ""
            /// Whether nobody can tell what became of it.
            var isUntold = false
        }

        var items: [Item] = []
        var faults: [(line: Int, fault: LineFault)] = []
        var progress: FileProgress
    }

    private struct Key: Hashable {
        var id: NotificationID
        var recipient: Recipient
        var topic: String

        init?(_ id: NotificationID?, _ recipient: Recipient, _ topic: String) {
            guard let id else { return nil }
            (self.id, self.recipient, self.topic) = (id, recipient, topic)
        }
    }

    /// Outcomes that are looked at in one reading.
    private static let page = 1000

    let source: any JournalSource
    /// Outcomes of what is looked for come behind this one.
    let cursor: OutcomeCursor
    /// Whether all of them were taken under the ids of this report: then the journal refused what it does not know. Of another
    /// run's, this one knows nothing.
    let areOfThisReport: Bool

    /// Reads the lines up to a place again.
    static func lines(_ task: InputTask, upTo end: FileProgress) async throws(ToolError) -> Found {
        var found = Found(progress: end)
        var input = task.input
        var line = (task.place.progress?.lines ?? 0) + 1
        var index = task.place.progress?.part ?? 0
        while true {
            let batch = try await input.next()
            found.faults += batch.faults.filter { $0.line <= end.lines }
            for (position, notification) in batch.notifications.enumerated() {
                if batch.lines[position] != line { (line, index) = (batch.lines[position], 0) }
                defer { index += 1 }
                guard line <= end.lines || line == end.lines + 1 && index < end.part ?? 0 else { continue }
                found.items.append(Found.Item(line: line, notification: notification))
            }
            if batch.isLast || batch.lineCount > end.lines || batch.lineCount == end.lines && end.part == nil { break }
        }
        return found
    }

    /// Finds their UIDs: in the journal, and among the outcomes.
    func look(for found: inout Found) async throws {
        var wanted: [Key: [Int]] = [:]
        for (position, item) in found.items.enumerated() {
            let notification = item.notification
            guard let key = Key(notification.id, notification.recipient, notification.topic) else { continue }
            wanted[key, default: []].append(position)
        }
        func take(_ key: Key?, _ uid: UID) {
            guard let key, let positions = wanted[key] else { return }
            // Lines under one id are one notification, unless the journal knows more of them.
            let free = positions.filter { found.items[$0].uid == nil }
            for position in free.isEmpty ? positions.suffix(1) : free { found.items[position].uid = uid }
        }
        // The journal first: what ends meanwhile is among the outcomes.
        var filter = EntryFilter()
        filter.ids = Set(wanted.keys.map(\.id))
        guard !filter.ids.isEmpty else { return }
        var place: UID? = UID.none
        while let last = place {
            let part = try await source.entries(filter, after: last, limit: OperatorDeskLimits.batch)
            for entry in part.entries {
                let notification = entry.notification
                take(Key(notification.id, notification.recipient, notification.topic), entry.uid)
            }
            place = part.end
        }
        var (last, isGap) = (cursor, false)
        while case let page = try await source.outcomes(after: last, limit: Self.page, of: nil), page.end > last {
            for outcome in page.outcomes { take(Key(outcome.id, outcome.recipient, outcome.topic), outcome.uid) }
            if page.end.rawValue - last.rawValue > page.outcomes.count { isGap = true }
            last = page.end
        }
        if try await source.history().deleted > cursor { isGap = true }
        try await explain(&found, isGap: isGap)
    }

    private func explain(_ found: inout Found, isGap: Bool) async throws {
        for position in found.items.indices where found.items[position].uid == nil {
            guard areOfThisReport, !isGap else {
                found.items[position].isUntold = true
                found.items[position].detail =
                    areOfThisReport
                    ? "a crash came between its commit and this report, and outcomes were deleted since, or can't be read: it was refused, or has ended"
                    : "unknown to this report: taken by another run"
                continue
            }
            let entries = try await source.blacklistEntries(for: [found.items[position].notification.recipient])
            found.items[position].reason = entries.allSatisfy(\.isEmpty) ? nil : .blacklisted
            found.items[position].detail =
                "a crash came between its commit and this report, and it is not in the journal: it was refused"
        }
    }
}
