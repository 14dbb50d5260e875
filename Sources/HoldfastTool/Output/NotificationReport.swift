internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// The outcome of one notification that was given by flags. In JSON one object.
struct NotificationReport: Encodable, Equatable {
    /// Shortened.
    var recipient: RecipientForm
    var id: String?
    /// The service's own id, by which its console knows it; development environment only.
    var uniqueID: String?
    /// The receipt, brought up to what the journal has come to know since. A reason may be Apple's word, or ours.
    var receipt: ReceiptForm
    /// The service's.
    var status: Int?
    /// Since when the service knows what it says of the token.
    var timestamp: ExactTime?
    /// With ``OutcomeWord/deferred``
    var dueAt: ExactTime?

    var outcome: OutcomeWord { receipt.outcome }

    /// Whether nothing is wrong with it, and the journal could not take it.
    var isRefusedByJournal: Bool {
        [Reason.journalFull, .journalUnreachable, .journalFailed].contains { refusal in
            refusal.rawValue == receipt.reason
        }
    }

    private enum CodingKeys: String, CodingKey {
        case status, timestamp, dueAt
        case id = "apns-id"
        case uniqueID = "apns-unique-id"
    }

    func encode(to encoder: any Encoder) throws {
        try recipient.encode(to: encoder)
        try receipt.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(id, forKey: .id)
        try container.encodeIfPresent(uniqueID, forKey: .uniqueID)
        try container.encodeIfPresent(status, forKey: .status)
        try container.encodeIfPresent(timestamp, forKey: .timestamp)
        try container.encodeIfPresent(dueAt, forKey: .dueAt)
    }
}

// MARK: From the journal

extension NotificationReport {
    /// - Parameter register: nil where nothing can be read: then it tells what was answered.
    init(_ notification: PushNotification, _ receipt: Receipt, in register: FateRegister?) throws(JournalError) {
        self.init(
            recipient: RecipientForm(notification.recipient, isWhole: false), id: notification.id?.description,
            receipt: ReceiptForm(receipt))
        switch receipt {
        case .refused(let refusal):
            // In words: a report is of the notification, and not of the token.
            self.receipt.blacklisted = nil
            if let entry = refusal.blacklistEntry {
                self.receipt.detail = "\(entry.reason) since \(Timestamp.format(entry.since))"
            }
        case .undetermined:
            // The detail says it, in a sentence.
            self.receipt.reason = nil
        case .repeated(let uid, let end): if let register { try explain(end, of: uid, in: register) }
        case .accepted(let uid): if let register { try follow(uid, in: register) }
        }
    }

    private mutating func follow(_ uid: UID, in register: FateRegister) throws(JournalError) {
        switch try register.fate(uid) {
        case .unconfirmed?: receipt.outcome = .unconfirmed
        case .deferred(_, let due, _, let reason)?:
            (receipt.outcome, receipt.reason) = (.deferred, reason.rawValue)
            dueAt = due.isPlaceOfTopic || due.isPlaceOfTag ? nil : ExactTime(due)
        case .scheduled(_, let time, _)?: (receipt.outcome, dueAt) = (.scheduled, ExactTime(time))
        // By silence; a late error may still deny it.
        case .aside?: receipt.outcome = .confirmed
        case .settled(let end)?:
            let form = EndForm(end)
            (receipt.outcome, receipt.reason) = (form.outcome, form.reason)
            try explain(end, of: uid, in: register)
        case .quarantined?:
            receipt.outcome = .quarantined
            receipt.detail = "its record cannot be read; see `holdfast journal quarantine list`"
        case nil: receipt.outcome = .settled
        }
    }

    /// Adds what the service said to a rejection.
    private mutating func explain(_ end: TerminalOutcome, of uid: UID, in register: FateRegister) throws(JournalError) {
        guard case .rejected = end, let cause = try register.cause(uid) else { return }
        status = cause.status
        timestamp = cause.timestamp.map(ExactTime.init)
    }
}

// MARK: For people

extension NotificationReport {
    /// A line for each, and below them what the reasons mean, each once.
    static func text(_ reports: [NotificationReport]) -> String {
        let width = reports.map(\.recipient.text.count).max() ?? 0
        var lines = reports.map { $0.line(width) }
        var explained: Set<String> = []
        for report in reports {
            guard let reason = report.receipt.reason, report.isExplained, explained.insert(reason).inserted else {
                continue
            }
            let guide = ReasonGuide.of(Reason(rawValue: reason), status: report.status)
            let advice = guide.advice.map { " What to do: \($0)." } ?? ""
            let text = "\(reason.printable(maximumLength: 100)): \(guide.meaning).\(advice)"
            lines += EntryExplanation.wrapped(text, width: TerminalSize.paragraph).map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// The detail of a refusal by the validator says all, so its reason needs no explanation.
    private var isExplained: Bool { outcome != .refused || receipt.reason == Reason.blacklisted.rawValue }

    /// - Parameter width: of the recipients of all.
    private func line(_ width: Int) -> String {
        var words = outcome.rawValue
        if receipt.repeated == true { words += " before, and not sent again" }
        let facts = [
            receipt.reason, status.map { "status \($0)" }, timestamp.map { "since \($0.text)" },
            dueAt.map { "due \($0.text)" },
        ].compactMap { $0 }.joined(separator: ", ")
        for note in [facts, receipt.detail ?? ""] where !note.isEmpty {
            words += ": " + note.printable(maximumLength: 300)
        }
        let padding = String(repeating: " ", count: width - recipient.text.count + 2)
        // Of what was refused nobody ever hears under that name.
        let name = outcome == .refused ? nil : id.map { "  apns-id \($0)" }
        let consoleName = uniqueID.map { "  apns-unique-id \($0.printable(maximumLength: 100))" }
        return "\(recipient.text)\(padding)\(words)\(name ?? "")\(consoleName ?? "")"
    }
}
