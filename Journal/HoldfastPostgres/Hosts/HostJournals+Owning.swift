internal import Holdfast
internal import HoldfastPQ
internal import HoldfastPlatform

/// How a host chooses the journal that it accepts into, and takes it.
extension HostJournals {
    /// How many journals of a host's names may have owners before it looks whether these live, in place of making another at once.
    /// A host that ends again and again while it starts would leave one each time.
    private static let manyOwned = 4

    func takeOwn(_ stop: OpeningStop) throws(JournalError) -> (ListedName, JournalLease, Int64) {
        while true {
            let (choice, ahead) = try persist(stop) { (connection) throws(PQError) in try choose(connection) }
            if let found = try takeSilent(beside: choice, ahead, stop) { return found }
            let (place, formerEpoch) = try settle(choice, stop)
            let lease = try lease(place.id, formerEpoch: formerEpoch, claim: ahead[place.id] ?? 0)
            // Where somebody else was faster, another name is found at the next look.
            let limit = Condition.now + terms.times.answer * 3
            while lease.epoch == nil, !stop.isStopped, Condition.now < limit {
                _ = lease.waitToHold(.milliseconds(100))
            }
            if let epoch = lease.epoch, !stop.isStopped {
                onNews(.goesOn)
                return (place, lease, epoch)
            }
            if let trouble = lease.obstacle {
                tellAway(trouble)
            } else {
                onNews(
                    .waiting(
                        "journal \(place.name) had an owner: for 10 s after a change of the database nobody takes it, and then "
                            + "first whoever has more of it"))
            }
            lease.release(within: terms.times.answer)
            if stop.isStopped { throw stopped }
        }
    }

    /// - Returns: with the last commits of copies that are ahead of the database.
    private func choose(_ connection: PQConnection) throws(PQError) -> (OwnJournalChoice, [Int32: UInt64]) {
        var memory = FleetMemory(in: directory.path)
        try memory.look(with: [], FleetCalls(terms.schema), connection, by: .now + terms.answer)
        let state = try FleetState(terms.schema, connection, by: .now + terms.answer)
        let ahead = try census.take(except: [], of: state, connection).ahead
        let choice = OwnJournalChoice.choose(
            from: state.journals, host: terms.host, ahead: Set(ahead.keys)
        ) { id in
            // An epoch alone comes again in another database, and in one that went back.
            guard let note = directory.copy(of: id).note(), note.fleet == state.fleet.id,
                note.lineage.ownerships.last?.stamp == state.lineages[id]?.ownerships.last?.stamp
            else { return nil }
            return note.epoch
        }
        return (choice, ahead)
    }

    private func settle(_ choice: OwnJournalChoice, _ stop: OpeningStop) throws(JournalError) -> (ListedName, Int64?) {
        switch choice {
        case .take(let id, let name, let formerEpoch): return (ListedName(id: id, name: name), formerEpoch)
        case .make(let name, _):
            let id = try persist(stop) { (connection) throws(PQError) in
                try OwnershipCalls(terms.schema).createJournal(name, connection, by: .now + terms.answer)
            }
            return (ListedName(id: id, name: name), nil)
        }
    }

    func lease(
        _ journal: Int32, formerEpoch: Int64? = nil, claim: UInt64 = 0, taken: JournalLease.Taken? = nil
    ) throws(JournalError) -> JournalLease {
        do throws(PQError) {
            return try JournalLease(terms.lease(journal, formerEpoch: formerEpoch, claim: claim, taken: taken))
        } catch {
            throw JournalError(error)
        }
    }

    /// Takes one of many journals of this host's names whose owner turns out to be gone, such as of a process that ended while it
    /// started. So there are never many more than hosts of the name that live.
    private func takeSilent(
        beside choice: OwnJournalChoice, _ ahead: [Int32: UInt64], _ stop: OpeningStop
    ) throws(JournalError) -> (ListedName, JournalLease, Int64)? {
        guard case .make(_, let owned) = choice, owned.count >= Self.manyOwned else { return nil }
        onNews(
            .waiting(
                "\(owned.count) journals are named after host \(terms.host), and have owners: if one of these turns out to be gone, "
                    + "its journal is taken, and no other is made"))
        let found = try persist(stop) { (connection) throws(PQError) in
            try watch(owned, ahead, stop, connection)
        }
        guard !stop.isStopped else { throw stopped }
        onNews(.goesOn)
        guard let (journal, taken) = found else { return nil }
        return (
            ListedName(id: journal.id, name: journal.name), try lease(journal.id, taken: taken), taken.epoch
        )
    }

    private func watch(
        _ owned: [Int32], _ ahead: [Int32: UInt64], _ stop: OpeningStop, _ connection: PQConnection
    ) throws(PQError) -> (ListedJournal, JournalLease.Taken)? {
        let calls = OwnershipCalls(terms.schema)
        var machine = TakeoverMachine(terms.times)
        let end = terms.clock.monotonic() + terms.times.takeAfter + terms.times.beat * 2
        repeat {
            let journals = try calls.list(connection, by: .now + terms.times.answer).filter { owned.contains($0.id) }
            for journal in machine.looked(journals, mine: [], room: owned.count, at: terms.clock.monotonic()) {
                let sent = terms.clock.monotonic()
                let epoch = try calls.take(
                    journal.id, seen: journal.sighting, host: terms.host, grace: terms.times.takeAfter,
                    claim: ahead[journal.id] ?? 0, connection, by: .now + terms.times.answer)
                if let epoch { return (journal, JournalLease.Taken(epoch: epoch, sent: sent)) }
            }
            stop.rest(terms.times.beat)
        } while !stop.isStopped && terms.clock.monotonic() < end
        return nil
    }
}
