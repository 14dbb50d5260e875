internal import Foundation
internal import Holdfast
package import HoldfastControl
internal import HoldfastJournal

/// Reads the journal of this process for whoever asks from another host, or has not the journal's key. A request reads for a second at most, and for some
/// megabytes; who asks goes on where it ended.
package struct JournalAnswers: Sendable {
    /// The most of one answer, below what the way carries.
    private static let greatestByteCount = 3 << 20
    private static let longest = Duration.seconds(1)

    let directory: String
    /// The copy of the blacklist that hosts share.
    let blacklist: String?

    /// - Parameters:
    ///   - directory: of a journal that this process has open.
    ///   - blacklist: of the copy that hosts share; nil for the journal's own.
    package init(directory: String, blacklist: String? = nil) {
        (self.directory, self.blacklist) = (directory, blacklist)
    }

    /// For those who carry requests: each is answered on a thread of its own.
    package var requests: FurtherRequests {
        FurtherRequests(paths: Set(ReadingPath.allCases.map(\.rawValue))) { path, body in
            try await OwnThread.run("holdfast-reading") { () throws(any Error) in try answer(path, body) }
        }
    }

    /// Blocks: on a thread of its own.
    ///
    /// - Returns: nil for a path that it does not know.
    func answer(_ path: String, _ body: [UInt8]) throws -> [UInt8]? {
        guard let path = ReadingPath(rawValue: path) else { return nil }
        let reader = try JournalReader(directory: directory, blacklist: blacklist)
        defer { reader.close() }
        switch path {
        case .entries:
            let question = try EntryQuestionForm.read(body)
            return try Form.line(EntryPartForm(try entries(question, reader)))
        case .tally:
            let question = try EntryQuestionForm.read(body)
            return try Form.line(try tally(question, reader))
        case .blacklist:
            let question = try Form.read(BlacklistQuestionForm.self, body, "the request's body")
            let after = try question.after.map { text throws(ControlError) in try Recipient.read(text) }
            let page = try reader.blacklistPage(after: after, limit: Self.limit(question.limit))
            return try Form.line(
                BlacklistPageForm(
                    entries: page.entries.map { BlacklistForm($0) },
                    unreadable: page.unreadableCount > 0 ? page.unreadableCount : nil))
        case .blacklisted:
            let question = try Form.read(RecipientsForm.self, body, "the request's body")
            return try Form.line(
                RecipientsFoundForm(
                    found: try question.recipients.prefix(OperatorDeskLimits.batch).map { text in
                        try reader.blacklistEntries(for: Recipient.read(text)).map { BlacklistForm($0) }
                    }))
        case .fates:
            let question = try Form.read(StandingQuestionForm.self, body, "the request's body")
            return try Form.line(
                StandingsForm(
                    standings: try question.uids.prefix(OperatorDeskLimits.batch).map { uid in
                        StandingForm(try reader.standing(UID(uid)))
                    }))
        case .note:
            let question = try Form.read(NoteQuestionForm.self, body, "the request's body")
            return try Form.line(NoteForm(value: try reader.note(question.checked()).map { Data($0) }))
        }
    }

    private static func limit(_ limit: Int) -> Int { min(max(limit, 1), OperatorDeskLimits.batch) }

    private func entries(_ question: EntryQuestionForm, _ reader: JournalReader) throws -> EntryPart {
        let end = ContinuousClock.now + Self.longest
        var listing = reader.listing(
            matching: try question.filter(), after: UID(question.after), limit: Self.limit(question.limit))
        var part = EntryPart()
        var bytes = 0
        while let page = try listing.next() {
            part.unreadable += listing.unreadable
            for entry in page {
                part.entries.append(entry)
                bytes += entry.notification.payload.count + entry.notification.context.count + 512
                guard bytes < Self.greatestByteCount else {
                    part.end = entry.uid
                    // Those behind it come with the next part.
                    part.unreadable.removeAll { $0 > entry.uid }
                    return part
                }
            }
            if ContinuousClock.now > end { break }
        }
        part.end = listing.position
        part.fault = listing.firstFault?.message
        return part
    }

    private func tally(_ question: EntryQuestionForm, _ reader: JournalReader) throws -> TallyPartForm {
        let end = ContinuousClock.now + Self.longest
        // Before the counting: what comes in between is not meant.
        let next = try reader.status().nextUID
        var listing = reader.listing(matching: try question.filter(), after: UID(question.after))
        var count = EntryCount()
        while let page = try listing.next() {
            for entry in page { count.add(entry) }
            if ContinuousClock.now > end { break }
        }
        return TallyPartForm(
            rows: count.sorted.map(TallyPartForm.Row.init), end: listing.position?.rawValue, nextUID: next.rawValue)
    }
}
