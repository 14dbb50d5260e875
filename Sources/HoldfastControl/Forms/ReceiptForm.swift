package import Holdfast

struct ReceiptsForm: Codable {
    var receipts: [ReceiptForm]
}

/// The outcome of a notification, in one word.
package enum OutcomeWord: String, Codable, Sendable {
    case confirmed, rejected, expired, unknown, withdrawn, superseded
    /// It was not taken.
    case refused
    /// Nobody can say whether it was taken.
    case undetermined
    /// In the journal, and to be delivered.
    case unconfirmed
    /// In the journal, and to be delivered when it is due.
    case deferred
    /// In the journal, and to be delivered from a time on.
    case scheduled
    /// It is no longer in the journal, which does not know how it ended.
    case settled
    /// In the journal, with a record that cannot be read.
    case quarantined
}

/// The outcome of one submitted notification: as the owner answers it, and as `send` reports it later.
package struct ReceiptForm: Codable, Hashable, Sendable {
    /// Present where it was taken, now or before.
    package var uid: UInt64?
    /// In an answer: `unconfirmed` where it was taken and is to be delivered; `refused`; `undetermined`; and how it ended,
    /// where it was taken before.
    package var outcome: OutcomeWord
    /// Whether it was taken before, under the same apns-id. Else absent.
    package var repeated: Bool?
    /// Of a refusal, or a rejection; of an undetermined one, in an answer, the code of the journal's error.
    package var reason: String?
    /// The fault, for people.
    package var detail: String?
    /// With a refusal, where the blacklist has its token.
    package var blacklisted: BlacklistForm?

    package init(outcome: OutcomeWord) { self.outcome = outcome }

    package init(_ receipt: Receipt) {
        switch receipt {
        case .accepted(let uid): (self.uid, outcome) = (uid.rawValue, .unconfirmed)
        case .repeated(let uid, let end):
            let end = EndForm(end)
            (self.uid, repeated, outcome, reason) = (uid.rawValue, true, end.outcome, end.reason)
        case .refused(let refusal):
            (outcome, reason, detail) = (.refused, refusal.reason.rawValue, refusal.detail)
            blacklisted = refusal.blacklistEntry.map { BlacklistForm($0) }
        case .undetermined(let error):
            (outcome, reason, detail) = (.undetermined, error.code.name, error.message)
        }
    }

    func value() throws(ControlError) -> Receipt {
        switch outcome {
        case .refused:
            let entry: BlacklistEntry? = if let blacklisted { try blacklisted.value() } else { nil }
            return .refused(Refusal(Reason(rawValue: reason ?? ""), detail ?? "", blacklistEntry: entry))
        case .undetermined: return .undetermined(JournalError(JournalError.Code(reason ?? ""), detail ?? ""))
        default: break
        }
        guard let uid else { throw .malformed("a receipt says under which UID the notification was taken") }
        guard repeated == true else { return .accepted(UID(uid)) }
        return .repeated(UID(uid), try EndForm(outcome: outcome, reason: reason).value())
    }
}

/// How a notification ended.
package struct EndForm: Codable, Hashable, Sendable {
    /// One of the first six.
    package var outcome: OutcomeWord
    /// Of a rejection.
    package var reason: String?

    init(outcome: OutcomeWord, reason: String?) { (self.outcome, self.reason) = (outcome, reason) }

    package init(_ end: TerminalOutcome) {
        switch end {
        case .confirmed: outcome = .confirmed
        case .rejected(let reason): (outcome, self.reason) = (.rejected, reason.rawValue)
        case .expired: outcome = .expired
        case .unknown: outcome = .unknown
        case .withdrawn: outcome = .withdrawn
        case .superseded: outcome = .superseded
        }
    }

    package func value() throws(ControlError) -> TerminalOutcome {
        switch outcome {
        case .confirmed: return .confirmed
        case .rejected: return .rejected(Reason(rawValue: reason ?? ""))
        case .expired: return .expired
        case .unknown: return .unknown
        case .withdrawn: return .withdrawn
        case .superseded: return .superseded
        default: throw .malformed("a notification does not end as \(outcome.rawValue)")
        }
    }
}
