package import Holdfast
package import HoldfastControl
package import HoldfastJournal

/// Reads a journal by asking its owner, whichever host that is.
package struct RemoteReader: Sendable {
    package let desk: RemoteDesk

    package init(_ desk: RemoteDesk) { self.desk = desk }

    /// Entries that the filter wants, from the first above `after`. A part may be empty although more follow.
    ///
    /// - Throws: what the owner says, and ``ControlError``.
    package func entries(_ filter: EntryFilter, after: UID, limit: Int) async throws -> EntryPart {
        try await desk.ask(
            ReadingPath.entries.rawValue, isRead: true,
            EntryQuestionForm(filter, after: after, limit: min(limit, OperatorDeskLimits.batch)),
            as: EntryPartForm.self
        ).value()
    }

    /// Counts what the filter wants.
    ///
    /// - Returns: the counts, and the UID that the next notification was to get when the counting began.
    package func tally(_ filter: EntryFilter) async throws -> (tallies: [EntryTally], nextUID: UID) {
        var (count, after) = (EntryCount(), UID.none)
        var next: UID?
        while true {
            let part = try await desk.ask(
                ReadingPath.tally.rawValue, isRead: true, EntryQuestionForm(filter, after: after, limit: 1),
                as: TallyPartForm.self)
            let first = next ?? UID(part.nextUID)
            next = first
            for row in part.rows { count.add(try row.value()) }
            guard let end = part.end else { return (count.sorted, first) }
            after = UID(end)
        }
    }

    /// The blacklist in the order of its recipients, from the first above `after`. Fewer than `limit` are the last.
    package func blacklistPage(after: Recipient?, limit: Int) async throws -> BlacklistPage {
        let form = try await desk.ask(
            ReadingPath.blacklist.rawValue, isRead: true,
            BlacklistQuestionForm(after: after?.notation, limit: min(limit, OperatorDeskLimits.batch)),
            as: BlacklistPageForm.self)
        var page = BlacklistPage()
        page.entries = try form.entries.map { try $0.value() }
        page.unreadableCount = form.unreadable ?? 0
        return page
    }

    /// The blacklist's entries of each recipient, at most 1,000 of them.
    package func blacklistEntries(for recipients: [Recipient]) async throws -> [[BlacklistEntry]] {
        guard !recipients.isEmpty else { return [] }
        let form = try await desk.ask(
            ReadingPath.blacklisted.rawValue, isRead: true, RecipientsForm(recipients: recipients.map(\.notation)),
            as: RecipientsFoundForm.self)
        guard form.found.count == recipients.count else {
            throw ControlError.malformed("the owner's answer lacks what it is to say")
        }
        return try form.found.map { forms in try forms.map { try $0.value() } }
    }

    /// Where entries stand, in order.
    package func standings(_ uids: [UID]) async throws -> [EntryStanding] {
        var standings: [EntryStanding] = []
        while standings.count < uids.count {
            let part = uids[standings.count...].prefix(OperatorDeskLimits.batch)
            let form = try await desk.ask(
                ReadingPath.fates.rawValue, isRead: true, StandingQuestionForm(uids: part.map(\.rawValue)),
                as: StandingsForm.self)
            guard form.standings.count == part.count else {
                throw ControlError.malformed("the owner's answer lacks what it is to say")
            }
            standings += try form.standings.map { try $0.value() }
        }
        return standings
    }

    /// The bytes of a note of `send`; nil where there is none.
    package func note(_ name: String) async throws -> [UInt8]? {
        try await desk.ask(
            ReadingPath.note.rawValue, isRead: true, NoteQuestionForm(name: name), as: NoteForm.self
        ).value.map { Array($0) }
    }
}
