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

    enum Decision {
        case settle(Settlement.Kind)
        /// Something is on its way to the disk that may end the entry, or only defer it: decide again when it is there.
        case wait
        /// The entry has met its end, or is another lane's.
        case gone
    }

    /// - Parameter standing: nil for an entry that is being settled.
    static func decision(for fate: EntryFate?, in lane: LaneKey, standing: () -> Standing?) -> Decision {
        switch fate {
        case .settled?, .aside?, nil:
            return .gone
        case .deferred(let key, until: _, attempts: _, reason: _)?, .scheduled(let key, for: _, attempts: _)?:
            // Its record says whether it may have been sent.
            return key == lane ? .settle(.withdraw) : .gone
        case .quarantined(let key, let possiblySent)?:
            guard key == lane else { return .gone }
            return .settle(possiblySent ? .withdrawSent : .withdraw)
        case .unconfirmed(let key, attempts: _, possiblySent: _)?:
            guard key == lane else { return .gone }
            guard let standing = standing() else { return .wait }
            switch standing {
            case .inFlight: return .settle(.withdrawSent)
            case .suspect(let possiblySentBefore), .waiting(let possiblySentBefore):
                return .settle(possiblySentBefore ? .withdrawSent : .withdraw)
            }
        }
    }
}
