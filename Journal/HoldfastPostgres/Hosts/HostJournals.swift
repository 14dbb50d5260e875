package import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ
internal import HoldfastPlatform

/// Opens journals of the fleet on this host. Each call blocks its thread, for as long as the database is away.
package struct HostJournals: Sendable {
    package let terms: HostTerms
    package let directory: HostDirectory
    private let onNews: @Sendable (HostNews) -> Void

    private static let pause = Duration.seconds(1)
    private static let readersPatience = Duration.seconds(3)

    package init(
        _ terms: HostTerms, _ directory: HostDirectory, onNews: @escaping @Sendable (HostNews) -> Void = { _ in }
    ) {
        self.terms = terms
        self.directory = directory
        self.onNews = onNews
    }

    /// Opens the journal that this host accepts into: the one that it had, or another of its names where others still deliver
    /// from that, or where the database has lost commits of it. Such a journal is closed, so that nobody sends again what was
    /// sent, and its copy stays as it is.
    ///
    /// - Throws: ``JournalError``: with code `closed` when it was stopped.
    package func openOwn(_ stop: OpeningStop) throws(JournalError) -> OwnedJournal {
        var setAside: Set<String> = []
        while true {
            let (place, lease, epoch) = try takeOwn(stop, except: setAside)
            do throws(JournalError) {
                return try openOwn(place, lease, epoch: epoch, stop)
            } catch  where error.code == .contradicted && !setAside.contains(place.name) {
                setAside.insert(place.name)
                onNews(.setAside(journal: place.name, error))
            }
        }
    }

    private func openOwn(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let opened = try open(place, lease, epoch: epoch, stop)
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
        return try open(place, lease(place.id, taken: taken), epoch: taken.epoch, stop)
    }

    /// All journals of the fleet.
    ///
    /// - Throws: ``JournalError``: with code `closed` when it was stopped.
    package func list(_ stop: OpeningStop) throws(JournalError) -> [ListedJournal] {
        try persist(stop) { (connection) throws(PQError) in
            try OwnershipCalls(terms.schema).list(connection, by: .now + terms.answer)
        }
    }

    // MARK: Ownership

    private func takeOwn(
        _ stop: OpeningStop, except setAside: Set<String>
    ) throws(JournalError) -> (ListedName, JournalLease, Int64) {
        while true {
            let choice = try persist(stop) { (connection) throws(PQError) in
                OwnJournalChoice.choose(
                    from: try OwnershipCalls(terms.schema).list(connection, by: .now + terms.answer), host: terms.host,
                    except: setAside, epoch: { directory.copy(of: $0).epoch() })
            }
            let (place, formerEpoch) = try settle(choice, stop)
            let lease = try lease(place.id, formerEpoch: formerEpoch)
            // Where somebody else was faster, another name is found at the next look.
            let limit = Condition.now + terms.times.answer * 3
            while lease.epoch == nil, !stop.isStopped, Condition.now < limit {
                _ = lease.waitToHold(.milliseconds(100))
            }
            if let epoch = lease.epoch, !stop.isStopped { return (place, lease, epoch) }
            if let trouble = lease.trouble { onNews(.waiting(trouble)) }
            lease.release(within: terms.times.answer)
            if stop.isStopped { throw stopped }
        }
    }

    private func settle(_ choice: OwnJournalChoice, _ stop: OpeningStop) throws(JournalError) -> (ListedName, Int64?) {
        switch choice {
        case .take(let id, let name, let formerEpoch): return (ListedName(id: id, name: name), formerEpoch)
        case .make(let name):
            let id = try persist(stop) { (connection) throws(PQError) in
                try OwnershipCalls(terms.schema).createJournal(name, connection, by: .now + terms.answer)
            }
            return (ListedName(id: id, name: name), nil)
        }
    }

    private func lease(
        _ journal: Int32, formerEpoch: Int64? = nil, taken: JournalLease.Taken? = nil
    ) throws(JournalError) -> JournalLease {
        do throws(PQError) {
            return try JournalLease(terms.lease(journal, formerEpoch: formerEpoch, taken: taken))
        } catch {
            throw JournalError(error)
        }
    }

    // MARK: The copy

    private func open(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        do throws(JournalError) {
            do throws(JournalError) {
                return try openBesideReaders(place, lease, epoch: epoch, stop)
            } catch  where error.code == .damaged && !stop.isStopped && lease.phase != .lost {
                // What is damaged is a copy, or else it is again.
                try directory.copy(of: place.id).discard()
                return try openOnce(place, lease, epoch: epoch, stop)
            }
        } catch {
            let wasLost = lease.phase == .lost
            lease.release(within: terms.closing, closing: error.code == .contradicted)
            throw stop.isStopped ? stopped : wasLost ? CopyError.ownershipLost.journalError : error
        }
    }

    /// Waits for a tool that reads the copy at rest, or has its lock until it is refused: both take only a moment.
    private func openBesideReaders(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let limit = Condition.now + Self.readersPatience
        while true {
            do throws(JournalError) {
                return try openOnce(place, lease, epoch: epoch, stop)
            } catch {
                let isForAMoment = error.code == .beingRead || error.code == .ownedByAnotherProcess
                guard isForAMoment, !stop.isStopped, Condition.now < limit else { throw error }
                stop.rest(.milliseconds(20))
            }
        }
    }

    private func openOnce(
        _ place: ListedName, _ lease: JournalLease, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) -> OwnedJournal {
        let copy = directory.copy(of: place.id)
        try LMDBJournal.prepareCopy(copy.directory)
        let former = copy.epoch()
        if former == nil { try copy.discard() }
        // Where the database knows of no owner behind this copy's, what the copy has more was lost there.
        let mayRestore = former.map { $0 >= epoch - 1 } ?? false
        let last = try build(place, epoch: epoch, copy, mayRestore: mayRestore, stop)
        try copy.note(epoch: epoch)
        let (gate, upkeep): (PostgresGate, Upkeep)
        do throws(PQError) {
            gate = try PostgresGate(
                PostgresGate.Terms(
                    target: terms.target, schema: terms.schema, journal: place.id, epoch: epoch,
                    connecting: terms.connecting, answer: terms.answer), after: last.number)
            upkeep = try Upkeep(terms, journal: place.id, epoch: epoch, lease, gate)
        } catch {
            throw JournalError(error)
        }
        stop.note(gate)
        defer { stop.note(nil) }
        let ownership = CopyOwnership(name: place.name, lease: lease, gate: gate)
        var options = terms.options
        options.create = true
        options.durability = .process
        options.gate = gate
        options.ownership = ownership
        options.uidBase = UInt64(place.id) << Self.uidBits
        do throws(JournalError) {
            let journal = try LMDBJournal(directory: copy.directory, options: options)
            upkeep.start(journal)
            return OwnedJournal(
                place, journal, lease, gate, ownership, upkeep, copy, epoch: epoch, closing: terms.closing)
        } catch {
            let ending = ownership.ending
            gate.stop()
            throw ending ?? error
        }
    }

    /// Of the UIDs of one journal. With up to 512 journals, a UID is exact where numbers are floating-point ones.
    private static let uidBits = 44

    private func build(
        _ place: ListedName, epoch: Int64, _ copy: CopyPlace, mayRestore: Bool, _ stop: OpeningStop
    ) throws(JournalError) -> WorkingCopy.Place {
        let limits = CopyBuilder.Limits(mapByteCount: terms.options.mapByteCount, answer: terms.answer)
        let builder = CopyBuilder(terms.schema, journal: place.id, epoch: epoch, limits)
        while true {
            let failure: CopyError
            do throws(CopyError) {
                let connection: PQConnection
                do throws(PQError) {
                    connection = try terms.connect("holdfast copy of journal \(place.id)", stop.interruption)
                } catch {
                    throw .database(error)
                }
                defer { connection.close() }
                do throws(CopyError) {
                    return try builder.build(in: copy.entries, over: connection)
                } catch {
                    guard case .rolledBack(let number, let log) = error, number > log, mayRestore else { throw error }
                    let last = try builder.restore(from: copy.entries, over: connection)
                    onNews(.restored(journal: place.name, from: log, to: last.number))
                    return last
                }
            } catch {
                failure = error
            }
            guard !stop.isStopped else { throw stopped }
            switch failure {
            case .database(let error) where error.mayPass:
                onNews(.waiting(error.description))
                stop.rest(Self.pause)
            case .moved: continue
            default: throw failure.journalError
            }
        }
    }

    // MARK: The database

    /// Makes a call over a connection of its own, again and again while the database is away.
    private func persist<R>(
        _ stop: OpeningStop, _ call: (PQConnection) throws(PQError) -> R
    ) throws(JournalError) -> R {
        while true {
            do throws(PQError) {
                let connection = try terms.connect("holdfast opening", stop.interruption)
                defer { connection.close() }
                return try call(connection)
            } catch {
                guard !stop.isStopped else { throw stopped }
                guard error.mayPass else { throw JournalError(error) }
                onNews(.waiting(error.description))
                stop.rest(Self.pause)
            }
        }
    }

    private var stopped: JournalError { JournalError(.closed, "the opening of a journal in PostgreSQL was stopped") }
}
