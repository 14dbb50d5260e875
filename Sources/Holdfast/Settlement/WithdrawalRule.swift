/// Decides how an entry is settled that an operator takes back.
enum WithdrawalRule {
    /// Where an entry stands that the journal has among the unconfirmed.
    enum Standing {
        /// With a connection that has not answered.
        case inFlight
        /// Its token was called bad, and is not judged yet.
        case suspect(possiblySentBefore: Bool)
        case waiting(possiblySentBefore: Bool)
    }

    /// - Parameter standing: nil for an entry that is being settled.
    /// - Returns: nil where the entry has met its end, or is just meeting it, or is another lane's.
    static func kind(
        for fate: EntryFate?, in lane: LaneKey, standing: () -> Standing?
    ) -> Settlement.Kind? {
        switch fate {
        case .settled?, .aside?, nil:
            return nil
        case .deferred(let key, until: _, attempts: _, reason: _)?, .scheduled(let key, for: _, attempts: _)?:
            // Its record says whether it may have been sent.
            return key == lane ? .withdraw : nil
        case .quarantined(let key, let possiblySent)?:
            guard key == lane else { return nil }
            return possiblySent ? .withdrawSent : .withdraw
        case .unconfirmed(let key, attempts: _, possiblySent: _)?:
            guard key == lane, let standing = standing() else { return nil }
            switch standing {
            case .inFlight: return .withdrawSent
            case .suspect(let possiblySentBefore), .waiting(let possiblySentBefore):
                return possiblySentBefore ? .withdrawSent : .withdraw
            }
        }
    }
}
