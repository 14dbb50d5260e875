/// Which entries may go out, and which go alone. Nothing changes by asking.
extension Caution {
    /// How an entry is dealt with that is about to go out.
    enum Treatment: Hashable, Sendable {
        case goes
        /// Others go first.
        case waits
        /// It is guilty of the end of so many connections.
        ///
        /// - Parameter counts: whether that is an attempt.
        case isPutAside(ends: Int, counts: Bool)
    }

    /// The connection that a trial could have now.
    enum TrialConnection: Hashable, Sendable {
        /// One that has carried nothing, and that another one may follow.
        case fresh
        /// A new one, if those that have carried something are given up.
        case replaceable
        /// None, but one may be made when one ends: the accused wait. Where nothing else is to go, one that was never shown
        /// guilty may go alone on a connection that has carried others: if it is answered, it is cleared. If not, it is put
        /// aside, and no attempt is counted: the connection may have ended for what it had carried before.
        case shared
        /// None: the accused wait, and the others go on where they go.
        case none
    }

    /// The number of entries that may still be sent.
    func allowance(inFlight: Int) -> Int { limit.map { max($0 - inFlight, 0) } ?? .max }

    /// Entries that others go before.
    var passedOver: [EntryKey] {
        suspects.filter { $0.value.stage == .accused && !$0.value.isReady(for: trialConnection) }.map(\.key)
    }

    /// Entries that would have their trial if there were a connection for it. They don't go even where no others do: they
    /// would end the connection that those who come next go out on.
    var waitingForConnection: [EntryKey] { suspects.filter { waitsForConnection($0.value) }.map(\.key) }

    /// Of the accused that are to go in their places, since nothing else does, those whose turn it is not: one has ended fewer
    /// connections. The first would otherwise go again and again, and the next, which may be innocent, never.
    ///
    /// - Parameter goesNext: whether an entry could go out now.
    func outOfTurn(_ goesNext: (EntryKey) -> Bool) -> [EntryKey] {
        let waiting = suspects.filter { $0.value.stage == .accused && goesNext($0.key) }
        guard waiting.count > 1, let fewest = waiting.values.map(\.ends).min() else { return [] }
        return waiting.filter { $0.value.ends > fewest }.map(\.key)
    }

    private func waitsForConnection(_ suspect: Suspect) -> Bool {
        switch trialConnection {
        case .fresh, .replaceable: false
        case .shared, .none: suspect.stage == .accused && (suspect.isDue || suspect.goesAlone)
        }
    }

    /// Entries that may go alone on a connection that has carried others, in order, if nothing else is to go.
    var guests: [EntryKey] {
        guard trialConnection == .shared else { return [] }
        let guests = suspects.filter { _, suspect in
            suspect.stage == .accused && suspect.isDue && !suspect.isKnown
        }
        return guests.map(\.key).sorted { $0.uid < $1.uid }
    }

    /// Entries that are to go alone on a connection, in order.
    ///
    /// - Parameter othersWait: whether anything else could go first.
    func trials(othersWait: Bool) -> [EntryKey] {
        guard trialConnection == .fresh || trialConnection == .replaceable else { return [] }
        let ready = suspects.filter { _, suspect in
            suspect.stage == .accused
                && (suspect.isReady(for: trialConnection) || suspect.goesAlone && !othersWait)
        }
        // A connection that others were given up for is for the one that it was made for. Otherwise they take turns.
        return ready.sorted { Self.order($0) < Self.order($1) }.map(\.key)
    }

    private static func order(_ accused: (key: EntryKey, value: Suspect)) -> (Int, Int, UID) {
        (accused.value.hasRoom ? 0 : 1, accused.value.trials, accused.key.uid)
    }

    /// Whether connections were given up for the entry, and what goes alone would still show something.
    func hasRoom(_ key: EntryKey) -> Bool { suspects[key]?.hasRoom == true }

    /// Whether there is room for any accused entry.
    var hasRoom: Bool { suspects.contains { $0.value.stage == .accused && $0.value.hasRoom } }

    /// Whether there is room for any accused entry of a lane.
    func hasRoom(in lane: LaneID) -> Bool {
        suspects.contains { $0.key.lane == lane && $0.value.stage == .accused && $0.value.hasRoom }
    }

    /// Whether a trial is under way.
    var isTrying: Bool {
        suspects.values.contains { $0.isOut && $0.stage == .accused && ($0.hasWitness || $0.goesAlone) }
    }

    /// - Parameter othersWait: whether anything else could go in its place.
    func treatment(of key: EntryKey, othersWait: Bool) -> Treatment {
        guard let suspect = suspects[key] else { return .goes }
        switch suspect.stage {
        case .accused:
            let isBehind = othersWait && !suspect.isReady(for: trialConnection)
            return !suspect.isGuest && (isBehind || waitsForConnection(suspect)) ? .waits : .goes
        case .guilty: return .isPutAside(ends: suspect.ends, counts: suspect.counts)
        case .aside: return .goes
        }
    }
}
