internal import Holdfast
internal import HoldfastService

/// What became of one notification that was given by flags. The coding keys are those of the JSON.
struct NotificationReport: Encodable, Equatable {
    /// How it ended, or where it stands.
    enum Outcome: String, Encodable {
        case confirmed, rejected, expired, unknown, withdrawn
        /// Not taken.
        case refused
        /// Nobody can say whether it was taken.
        case undetermined
        /// In the journal, and to be delivered.
        case unconfirmed
        /// In the journal, and to be delivered when it is due.
        case deferred
        /// It has met its end, and the journal does not know which.
        case settled
        /// In the journal, with a record that cannot be read.
        case quarantined
    }

    /// Shortened; nil for a broadcast.
    var token: String?
    /// Of a broadcast.
    var channel: String?
    var address: String?
    var id: String?
    /// What the service's console knows it by; development environment only.
    var uniqueID: String?
    /// Nil where it was not taken.
    var uid: UInt64?
    var outcome: Outcome
    /// Whether it was taken before, under the same apns-id, and had its end then. Else nil.
    var isRepeated: Bool?
    /// Apple's word, or ours.
    var reason: String?
    /// The service's.
    var status: Int?
    /// Since when the service knows what it says of the token.
    var timestamp: String?
    /// With ``Outcome/deferred``
    var dueAt: String?
    /// With ``Outcome/refused``, ``Outcome/undetermined`` and ``Outcome/quarantined``: what is wrong with what.
    var detail: String?

    /// Whether nothing is wrong with it, and the journal could not take it.
    var isRefusedByJournal: Bool {
        [Reason.journalFull, .journalFailed].contains { refusal in refusal.rawValue == reason }
    }

    enum CodingKeys: String, CodingKey {
        case token, channel, address, uid, outcome, reason, status, timestamp, dueAt, detail
        case id = "apns-id"
        case uniqueID = "apns-unique-id"
        case isRepeated = "repeated"
    }

    init(
        token: String? = nil, channel: String? = nil, address: String? = nil, id: String? = nil, outcome: Outcome
    ) {
        (self.token, self.channel, self.address) = (token, channel, address)
        (self.id, self.outcome) = (id, outcome)
    }
}

// MARK: From the journal

extension NotificationReport {
    init(_ notification: PushNotification, _ receipt: Receipt, in register: FateRegister) throws(JournalError) {
        self.init(
            token: notification.token?.shortened, channel: notification.recipient.channel?.id,
            address: notification.recipient.serviceAddress?.description, id: notification.id?.description,
            outcome: .settled)
        uid = receipt.uid?.rawValue
        switch receipt {
        case .refused(let refusal):
            (outcome, reason, detail) = (.refused, refusal.reason.rawValue, refusal.detail)
            if let entry = refusal.blacklistEntry {
                detail = "\(entry.reason) since \(Timestamp.format(entry.since))"
            }
        case .undetermined(let error):
            (outcome, detail) = (.undetermined, error.message)
        case .repeated(let uid, let end):
            isRepeated = true
            try set(end, of: uid, in: register)
        case .accepted(let uid):
            switch try register.fate(uid) {
            case .unconfirmed?: outcome = .unconfirmed
            case .deferred(_, let due, _, let reason)?:
                (outcome, self.reason, dueAt) = (
                    .deferred, reason.rawValue, due.isPlaceOfTopic ? nil : Timestamp.format(due)
                )
            // By silence; a late error may still deny it.
            case .aside?: outcome = .confirmed
            case .settled(let end)?: try set(end, of: uid, in: register)
            case .quarantined?:
                outcome = .quarantined
                detail = "its record cannot be read; see `holdfast journal quarantine list`"
            case nil: break
            }
        }
    }

    private mutating func set(_ end: TerminalOutcome, of uid: UID, in register: FateRegister) throws(JournalError) {
        switch end {
        case .confirmed: outcome = .confirmed
        case .expired: outcome = .expired
        case .unknown: outcome = .unknown
        case .withdrawn: outcome = .withdrawn
        case .rejected(let reason):
            (outcome, self.reason) = (.rejected, reason.rawValue)
            guard let cause = try register.cause(uid) else { return }
            status = cause.status
            timestamp = cause.timestamp.map(Timestamp.format)
        }
    }
}

// MARK: For people

extension NotificationReport {
    /// A line for each, and below them what the reasons mean, each once.
    static func text(_ reports: [NotificationReport]) -> String {
        let width = reports.map(\.recipient.count).max() ?? 0
        var lines = reports.map { $0.line(width) }
        var explained: Set<String> = []
        for report in reports {
            guard let reason = report.reason, report.isExplained, explained.insert(reason).inserted else { continue }
            let guide = ReasonGuide.of(Reason(rawValue: reason), status: report.status)
            let advice = guide.advice.map { " What to do: \($0)." } ?? ""
            let text = "\(reason.printable(maximumLength: 100)): \(guide.meaning).\(advice)"
            lines += EntryExplanation.wrapped(text, width: 92).map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// What the validator refuses is said in its detail, to the point.
    private var isExplained: Bool { outcome != .refused || reason == Reason.blacklisted.rawValue }

    private var recipient: String { token ?? channel ?? address ?? "" }

    /// - Parameter width: of the recipients of all.
    private func line(_ width: Int) -> String {
        var words = outcome.rawValue
        if isRepeated == true { words += " before, and not sent again" }
        let facts = [
            reason, status.map { "status \($0)" }, timestamp.map { "since \($0)" }, dueAt.map { "due \($0)" },
        ].compactMap { $0 }.joined(separator: ", ")
        for note in [facts, detail ?? ""] where !note.isEmpty { words += ": " + note.printable(maximumLength: 300) }
        let padding = String(repeating: " ", count: width - recipient.count + 2)
        // Of what was refused nobody ever hears under that name.
        let name = outcome == .refused ? nil : id.map { "  apns-id \($0)" }
        let consoleName = uniqueID.map { "  apns-unique-id \($0.printable(maximumLength: 100))" }
        return "\(recipient)\(padding)\(words)\(name ?? "")\(consoleName ?? "")"
    }
}
