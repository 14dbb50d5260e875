internal import Foundation
package import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ
internal import HoldfastPlatform

/// Opens journals of the fleet on this host. Each call blocks its thread, for as long as the database is away.
package struct HostJournals: Sendable {
    package let terms: HostTerms
    package let directory: HostDirectory
    let onNews: @Sendable (HostNews) -> Void

    static let pause = Duration.seconds(1)
    private static let readersPatience = Duration.seconds(3)

    package init(
        _ terms: HostTerms, _ directory: HostDirectory, onNews: @escaping @Sendable (HostNews) -> Void = { _ in }
    ) {
        self.terms = terms
        self.directory = directory
        self.onNews = onNews
    }

    var census: CopyCensus { CopyCensus(terms: terms, directory: directory) }

    /// Opens the journal that this host accepts into: the one that it had, or another of its names where others still deliver
    /// from that.
    ///
    /// - Throws: ``JournalError``: with code `closed` when it was stopped.
    package func openOwn(_ stop: OpeningStop) throws(JournalError) -> OwnedJournal {
        try persist(stop) { (connection) throws(PQError) in
            try terms.refuseSharedSessions(connection, by: .now + terms.answer, stop.interruption)
        }
        let (place, lease, epoch) = try takeOwn(stop)
        return try openOwn(place, lease, epoch: epoch, stop)
    }

    private func openOwn(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let opened = try open(place, lease, epoch: epoch, isOwn: true, stop)
        do throws(JournalError) {
            try persist(stop) { (connection) throws(PQError) in
                try OwnershipCalls(terms.schema).accept(
                    into: place.id, epoch: epoch, connection, by: .now + terms.answer)
            }
            try directory.noteOwn(place.id)
        } catch {
            opened.close()
            throw error
        }
        return opened
    }

    /// Opens a journal that this host has taken over.
    ///
    /// - Throws: ``JournalError``; then the journal is free again.
    package func open(
        _ journal: ListedJournal, taken: JournalLease.Taken, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let place = ListedName(id: journal.id, name: journal.name)
        return try open(place, lease(place.id, taken: taken), epoch: taken.epoch, isOwn: false, stop)
    }

    /// All journals of the fleet.
    ///
    /// - Throws: ``JournalError``: with code `closed` when it was stopped.
    package func list(_ stop: OpeningStop) throws(JournalError) -> [ListedJournal] {
        try persist(stop) { (connection) throws(PQError) in
            try OwnershipCalls(terms.schema).list(connection, by: .now + terms.answer)
        }
    }

    // MARK: The copy

    /// - Parameter isOwn: whether this host accepts into it.
    private func open(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, isOwn: Bool, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let copy = directory.copy(of: place.id)
        let wasThere = copy.isThere
        do throws(JournalError) {
            do throws(JournalError) {
                return try openBesideReaders(place, lease, epoch: epoch, isOwn: isOwn, stop)
            } catch  where error.code == .damaged && !stop.isStopped && lease.phase != .lost {
                // What is damaged is a copy, or else it is again.
                try copy.discard()
                return try openBesideReaders(place, lease, epoch: epoch, isOwn: isOwn, stop)
            }
        } catch {
            let wasLost = lease.phase == .lost
            lease.release(within: terms.closing)
            let failure = stop.isStopped ? stopped : wasLost ? CopyError.ownershipLost.journalError : error
            // One that was there before may have what the database lacks. One that can't be opened is for nothing, and half a copy of
            // another host's journal would keep the disk full.
            if !wasThere, failure.code == .wrongKey || failure.code == .diskFull && !isOwn { copy.remove() }
            throw failure
        }
    }

    /// Waits for a tool that reads the copy at rest, or has its lock until it is refused, and makes a copy again that somebody removes
    /// meanwhile: each takes only a moment.
    private func openBesideReaders(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, isOwn: Bool, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let limit = Condition.now + Self.readersPatience
        while true {
            do throws(JournalError) {
                return try openOnce(place, lease, epoch: epoch, isOwn: isOwn, stop)
            } catch {
                // Nothing can be made in a directory that is gone.
                guard directory.isInPlace else { throw directory.failure(error) }
                let isRemoved =
                    error.code == .copyLost || error.code == .notFound && !directory.copy(of: place.id).isThere
                let isForAMoment = isRemoved || error.code == .beingRead || error.code == .ownedByAnotherProcess
                guard isForAMoment, !stop.isStopped, Condition.now < limit else { throw error }
                stop.rest(.milliseconds(20))
            }
        }
    }

    private func openOnce(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, isOwn: Bool, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let copy = directory.copy(of: place.id)
        try LMDBJournal.prepareCopy(copy.directory)
        if copy.note() == nil { try copy.discard() }
        var built = try build(place, epoch: epoch, copy, stop)
        // Before anything is written: rows sealed with other keys, or with none, would be damage to all hosts.
        let keys = try keys(for: copy, of: place, isOwn: isOwn)
        let isInDoubt = built.isRestored ? false : try judge(place, epoch: epoch, stop)
        if isInDoubt { built.forgotten = .unknown }
        let lineage = built.lineage.adding(UUID().uuidString.lowercased(), after: built.last.number)
        try copy.note(epoch: epoch, fleet: built.fleet, name: place.name, lineage)
        let (repeatKey, now) = try persist(stop) { (connection) throws(PQError) in
            let (calls, deadline) = (FleetCalls(terms.schema), ContinuousClock.now + terms.answer)
            try calls.note(lineage, of: place.id, epoch: epoch, connection, by: deadline)
            let key = try IdentityCalls(terms.schema).key(connection, by: deadline)
            return (key, try calls.now(connection, by: deadline))
        }
        let (gate, upkeep): (PostgresGate, Upkeep)
        do throws(PQError) {
            var gateTerms = PostgresGate.Terms(
                target: terms.target, schema: terms.schema, journal: place.id, epoch: epoch,
                connecting: terms.connecting, answer: terms.commit)
            gateTerms.isMended = true
            gate = try PostgresGate(gateTerms, after: built.last.number)
            let mender = LogMender(
                terms, place, epoch: epoch, stamp: lineage.ownerships.last?.stamp ?? "", fleet: built.fleet, gate,
                onNews: onNews)
            upkeep = try Upkeep(terms, mender, lease, gate)
        } catch {
            throw JournalError(error)
        }
        stop.note(gate)
        defer { stop.note(nil) }
        let ownership = CopyOwnership(name: place.name, lease: lease, gate: gate, clock: terms.clock)
        var options = terms.options
        options.keys = keys
        options.create = true
        options.durability = .process
        options.gate = gate
        options.copyNumber = built.last.number
        options.ownership = ownership
        options.uidBase = UInt64(place.id) << ListedJournal.uidBits
        options.forgotten = built.forgotten
        options.provenTime = Self.provenTime(ours: terms.clock.wall(), ofDatabase: now)
        options.repeatKey = IdentityKey(first: repeatKey.first, second: repeatKey.second)
        do throws(JournalError) {
            let journal = try LMDBJournal(directory: copy.directory, options: options)
            // Until it is known how far they are told by SQL.
            journal.holdOutcomes(after: .start)
            if built.forgotten != nil { try endDeferrals(of: journal, now) }
            if built.isRestored { try restoreIdentities(of: journal, place, epoch: epoch, stop) }
            if built.isRestored || isInDoubt {
                try endDoubt(of: place, isInDoubt, from: journal.notedTime, epoch: epoch, stop)
            }
            upkeep.start(journal)
            return OwnedJournal(
                place, journal, lease, gate, ownership, upkeep, epoch: epoch, closing: terms.closing)
        } catch {
            let ending = ownership.ending
            gate.close()
            throw ending ?? error
        }
    }

    // MARK: The database

    /// Makes a call over a connection of its own, again and again while the database is away.
    func persist<R>(
        _ stop: OpeningStop, _ call: (PQConnection) throws(PQError) -> R
    ) throws(JournalError) -> R {
        var hasWaited = false
        while true {
            do throws(PQError) {
                let connection = try terms.connect("holdfast opening", stop.interruption)
                defer { connection.close() }
                let result = try call(connection)
                // A connection alone may be all that there is: the call may be refused each time.
                if hasWaited { onNews(.goesOn) }
                return result
            } catch {
                guard !stop.isStopped else { throw stopped }
                guard error.mayPass else { throw JournalError(error) }
                hasWaited = true
                tellAway(DatabaseTrouble(error))
                stop.rest(Self.pause)
            }
        }
    }

    func tellAway(_ trouble: DatabaseTrouble) {
        onNews(.away(DatabaseTrouble(trouble.kind, "the database \(terms.target) can't be used now: \(trouble)")))
    }

    var stopped: JournalError { JournalError(.closed, "the opening of a journal in PostgreSQL was stopped") }
}
