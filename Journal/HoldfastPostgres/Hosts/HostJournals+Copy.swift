internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ

/// How a working copy and the log of its journal are brought together.
extension HostJournals {
    /// A copy at the end of its log.
    struct Built {
        var last: WorkingCopy.Place
        /// Of what is in the copy and in the log.
        var lineage: Lineage
        var fleet: String
        var isRestored = false
        /// The entries that may have been sent although the database does not say so; `nil` for none.
        var forgotten: JournalOptions.Forgotten?
    }

    func build(
        _ place: ListedName, epoch: Int64, _ copy: CopyPlace, _ stop: OpeningStop
    ) throws(JournalError) -> Built {
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
                return try bring(copy, of: place, epoch: epoch, connection)
            } catch {
                failure = error
            }
            guard !stop.isStopped else { throw stopped }
            switch failure {
            case .database(let error) where error.mayPass:
                tellAway(DatabaseTrouble(error))
                stop.rest(Self.pause)
            case .moved: continue
            default: throw failure.journalError
            }
        }
    }

    /// Brings the copy to the log's end, or the log to the copy's, where the database went back in time.
    private func bring(
        _ copy: CopyPlace, of place: ListedName, epoch: Int64, _ connection: PQConnection
    ) throws(CopyError) -> Built {
        let limits = CopyBuilder.Limits(mapByteCount: terms.options.mapByteCount, answer: terms.answer)
        let builder = CopyBuilder(terms.schema, journal: place.id, epoch: epoch, limits)
        let (fleet, lineage, log) = try facts(place, epoch: epoch, connection)
        var built = Built(last: .unfinished, lineage: lineage, fleet: fleet)
        if let note = copy.note() {
            let last = copy.lastCommit(mapByteCount: limits.mapByteCount) ?? 0
            if note.fleet != fleet || note.name != place.name {
                _ = try setAside(copy, place, .foreign)
            } else {
                switch Lineage.standing(copy: (last, note.lineage), log: (log, lineage)) {
                case .behind:
                    // What the copy gets now was written by whom the log names. An opening that is given up, or killed, before the copy
                    // is noted as this ownership's would leave a copy of another line.
                    do throws(LMDBError) { try copy.put(note.following(lineage)) } catch { throw .copy(error) }
                case .apart:
                    built.forgotten = .upTo(try setAside(copy, place, .apart(copy: last, log: log)))
                case .ahead:
                    built.last = try builder.restore(from: copy.entries, over: connection)
                    (built.lineage, built.isRestored) = (note.lineage, true)
                    onNews(.restored(journal: place.name, from: log, to: built.last.number))
                    return built
                }
            }
        }
        do throws(CopyError) { built.last = try builder.build(in: copy.entries, over: connection) } catch {
            guard case .rolledBack(let last, let log) = error else { throw error }
            built.forgotten = .upTo(try setAside(copy, place, .apart(copy: last, log: log)))
            built.last = try builder.build(in: copy.entries, over: connection)
        }
        return built
    }

    private func facts(
        _ place: ListedName, epoch: Int64, _ connection: PQConnection
    ) throws(CopyError) -> (fleet: String, Lineage, last: UInt64) {
        do throws(PQError) {
            let (calls, deadline) = (FleetCalls(terms.schema), ContinuousClock.now + terms.answer)
            let log = try LogCalls(terms.schema, journal: place.id).fencedState(
                sumOf: 0, epoch: epoch, connection, by: deadline)
            let lineage = try calls.lineages(connection, by: deadline)[place.id] ?? Lineage()
            return (try calls.look(connection, by: deadline).id, lineage, log.last)
        } catch {
            throw CopyError(error)
        }
    }

    /// - Returns: the last UIDs of the copy, by lane.
    private func setAside(
        _ copy: CopyPlace, _ place: ListedName, _ why: HostNews.SetAside
    ) throws(CopyError) -> [LaneKey: UInt64] {
        let path: String
        do throws(LMDBError) { path = try copy.setAside() } catch { throw .copy(error) }
        onNews(.setAside(journal: place.name, copy: path, why: why))
        do throws(JournalError) {
            try LMDBJournal.prepareCopy(copy.directory)
            // In another database nobody goes on from it.
            if why == .foreign { return [:] }
            return try LMDBJournal.countAsSent(inCopy: path, mapByteCount: terms.options.mapByteCount)
        } catch {
            throw .place(error)
        }
    }

    /// The commits that the database had lost may have had identities.
    func restoreIdentities(
        of journal: LMDBJournal, _ place: ListedName, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) {
        var last = UID.none
        while let claims = try journal.identityClaims(after: &last) {
            try persist(stop) { (connection) throws(PQError) in
                try IdentityCalls(terms.schema).restore(
                    claims, of: place.id, epoch: epoch, connection, by: .now + terms.answer)
            }
        }
    }
}

extension LMDBJournal {
    /// The next identities that it remembers, by their UIDs; `nil` behind the last.
    func identityClaims(after last: inout UID) throws(JournalError) -> [CommitClaim]? {
        let page = try rememberedIdentities(after: last, limit: 10_000)
        guard let end = page.last?.uid else { return nil }
        last = end
        return page.map { CommitClaim(high: $0.identity.high, low: $0.identity.low, value: $0.uid.rawValue) }
    }
}
