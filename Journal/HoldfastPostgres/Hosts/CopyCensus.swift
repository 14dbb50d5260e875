internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ

/// The database as a whole, as of one look: which one it is, its journals, and who has written them.
struct FleetState: Sendable {
    let fleet: FleetSighting
    let journals: [ListedJournal]
    let lineages: [Int32: Lineage]

    init(
        _ schema: SchemaName, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        let calls = FleetCalls(schema)
        fleet = try calls.look(connection, by: deadline)
        journals = try OwnershipCalls(schema).list(connection, by: deadline)
        lineages = try calls.lineages(connection, by: deadline)
    }
}

/// Looks for what the copies of a host have that the database lacks, since that went back in time.
///
/// Until hosts have looked, nobody takes a journal that was owned before (``LeaseTimes/takeAfter`` from the first who noticed).
/// Then it is for whoever has most of it.
struct CopyCensus: Sendable {
    struct Found {
        /// The last commits of the copies that are ahead, by the journal's number.
        var ahead: [Int32: UInt64] = [:]
        /// By the copy's path, those that the database goes on without. They are left until their journal is opened here.
        var useless: [String: (name: String, why: HostNews.SetAside)] = [:]
    }

    let terms: HostTerms
    let directory: HostDirectory

    /// Claims the journals of which a copy is ahead of the database.
    ///
    /// - Parameter mine: the journals that this process has open.
    func take(
        except mine: Set<Int32>, of state: FleetState, _ connection: PQConnection
    ) throws(PQError) -> Found {
        var found = Found()
        let calls = FleetCalls(terms.schema)
        for id in directory.copies where !mine.contains(id) {
            let copy = directory.copy(of: id)
            guard let note = copy.note(), let last = copy.lastCommit(mapByteCount: terms.options.mapByteCount), last > 0
            else { continue }
            guard note.fleet == state.fleet.id, state.journals.contains(where: { $0.id == id && $0.name == note.name })
            else {
                found.useless[copy.directory] = (note.name, .foreign)
                continue
            }
            let log = try LogCalls(terms.schema, journal: id).state(connection, by: deadline).last
            switch Lineage.standing(copy: (last, note.lineage), log: (log, state.lineages[id] ?? Lineage())) {
            case .behind:
                try calls.hear(
                    id, stamp: note.stamp, incarnation: state.fleet.incarnation, connection, by: deadline)
            case .apart: found.useless[copy.directory] = (note.name, .apart(copy: last, log: log))
            case .ahead:
                try OwnershipCalls(terms.schema).claim(
                    id, upTo: last, for: terms.times.takeAfter, connection, by: deadline)
                found.ahead[id] = last
                // In the outbox they are once more, and in the copy.
                if let taken = copy.takenRows(after: log, mapByteCount: terms.options.mapByteCount) {
                    try calls.claim(
                        taken.rows, takenBy: id, isWhole: taken.forgotten <= log, connection, answer: terms.answer)
                }
            }
        }
        return found
    }

    private var deadline: ContinuousClock.Instant { .now + terms.answer }
}
