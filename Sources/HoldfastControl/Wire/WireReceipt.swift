internal import Holdfast

/// What became of one submitted notification: one of the first four is there.
struct WireReceipt: Codable, Hashable {
    /// Under this UID.
    var accepted: UInt64?
    /// Under this UID, before.
    var repeated: UInt64?
    var refused: WireError?
    var undetermined: WireError?
    /// With `repeated`.
    var end: WireEnd?
    /// With `refused`, where the blacklist has its token.
    var blacklisted: WireBlacklistEntry?

    init(_ receipt: Receipt) {
        switch receipt {
        case .accepted(let uid): accepted = uid.rawValue
        case .repeated(let uid, let end): (repeated, self.end) = (uid.rawValue, WireEnd(end))
        case .refused(let refusal):
            refused = WireError(refusal)
            blacklisted = refusal.blacklistEntry.map(WireBlacklistEntry.init)
        case .undetermined(let error): undetermined = WireError(error)
        }
    }

    func value() throws(ControlError) -> Receipt {
        if let accepted { return .accepted(UID(accepted)) }
        if let repeated, let end { return .repeated(UID(repeated), try end.value()) }
        if let refused {
            let entry: BlacklistEntry? = if let blacklisted { try blacklisted.value() } else { nil }
            return .refused(Refusal(Reason(rawValue: refused.code), refused.message, blacklistEntry: entry))
        }
        guard let undetermined else { throw .malformed("a receipt says what became of the notification") }
        return .undetermined(JournalError(JournalError.Code(undetermined.code), undetermined.message))
    }
}

/// How a notification ended.
struct WireEnd: Codable, Hashable {
    var state: String
    /// Of a rejection.
    var reason: String?

    init(_ end: TerminalOutcome) {
        switch end {
        case .confirmed: state = "confirmed"
        case .rejected(let reason): (state, self.reason) = ("rejected", reason.rawValue)
        case .expired: state = "expired"
        case .unknown: state = "unknown"
        case .withdrawn: state = "withdrawn"
        }
    }

    func value() throws(ControlError) -> TerminalOutcome {
        switch state {
        case "confirmed": return .confirmed
        case "rejected": return .rejected(Reason(rawValue: reason ?? ""))
        case "expired": return .expired
        case "unknown": return .unknown
        case "withdrawn": return .withdrawn
        default: throw .malformed("a notification does not end as \(state.debugDescription)")
        }
    }
}
