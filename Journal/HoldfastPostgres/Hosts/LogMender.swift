internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ

/// Writes back what the database has lost of a journal, while its owner goes on with it: the answers to what is on the wire find
/// their engine, and nobody sends it again.
///
/// It does what the next owner would do who opened the journal from this host's copy, under the same conditions. Nothing is handed
/// out and no commit is made meanwhile (``PostgresGate/isLacking``). A host that ends at any moment leaves a copy that is ahead.
struct LogMender {
    enum Outcome: Sendable {
        case mended
        /// It may be tried again.
        case later(String)
        /// Another host has more of the journal, or this is another database: the journal has to be opened again.
        case contradicted
    }

    let terms: HostTerms
    let place: ListedName
    let epoch: Int64
    /// Of this ownership.
    let stamp: String
    /// The database's.
    let fleet: String
    let gate: PostgresGate
    let onNews: @Sendable (HostNews) -> Void
    /// As of which the rows of the outbox were told that lost commits have taken.
    private var told: String?

    init(
        _ terms: HostTerms, _ place: ListedName, epoch: Int64, stamp: String, fleet: String, _ gate: PostgresGate,
        onNews: @escaping @Sendable (HostNews) -> Void
    ) {
        (self.terms, self.place, self.epoch, self.stamp, self.fleet) = (terms, place, epoch, stamp, fleet)
        self.gate = gate
        self.onNews = onNews
    }

    /// - Parameter isUnbroken: whether the lease did not run out since the database was seen before it changed. Then nobody has taken
    ///   the journal in between, and nobody is waited for.
    mutating func mend(
        _ journal: LMDBJournal, isUnbroken: Bool, over connection: PQConnection
    ) throws -> Outcome {
        let calls = FleetCalls(terms.schema)
        let seen = try calls.look(connection, by: deadline)
        guard seen.id == fleet else { return .contradicted }
        let log = try LogCalls(terms.schema, journal: place.id).fencedState(
            sumOf: 0, epoch: epoch, connection, by: deadline
        ).last
        let kept = gate.status.last
        guard log <= kept else { return .contradicted }
        if log < kept {
            try claim(journal, from: log, upTo: kept, in: seen.incarnation, connection)
            let grace = isUnbroken ? .milliseconds(-1) : terms.times.takeAfter
            let may = try calls.mayRestore(
                place.id, epoch: epoch, stamp: stamp, upTo: kept, grace: grace, connection, by: deadline)
            guard let may else { return .later("others are waited for who may have more of the journal") }
            guard may else { return .contradicted }
            let checkpointer = Checkpointer(terms.schema, journal: place.id, epoch: epoch, answer: terms.answer)
            let made = try checkpointer.make(of: journal.entriesEnvironment, restoring: true, over: connection)
            onNews(.restored(journal: place.name, from: log, to: made.number))
        }
        try finish(journal, connection)
        gate.mended()
        return .mended
    }

    /// Says that this host has what the database lacks, and which rows of the outbox are in it.
    private mutating func claim(
        _ journal: LMDBJournal, from log: UInt64, upTo kept: UInt64, in incarnation: String, _ connection: PQConnection
    ) throws {
        try OwnershipCalls(terms.schema).claim(
            place.id, upTo: kept, for: terms.times.takeAfter, connection, by: deadline)
        guard told != incarnation else { return }
        let taken = try journal.takenRows(after: log)
        try FleetCalls(terms.schema).claim(
            taken.rows, takenBy: place.id, isWhole: taken.forgotten <= log, connection, answer: terms.answer)
        told = incarnation
    }

    /// What lies beside the log. May be repeated.
    private func finish(_ journal: LMDBJournal, _ connection: PQConnection) throws {
        var last = UID.none
        while let claims = try journal.identityClaims(after: &last) {
            try IdentityCalls(terms.schema).restore(claims, of: place.id, epoch: epoch, connection, by: deadline)
        }
        let orders = OrderCalls(terms.schema)
        if var lost = try LostPauses(of: journal, lackedBy: try orders.read(connection, by: deadline)) {
            try lost.putBack(orders, connection, answer: terms.answer)
            onNews(lost.news(of: place.name))
        }
        // Takes the claim back, which would keep others from the journal.
        let calls = FleetCalls(terms.schema)
        let lineage = try calls.lineages(connection, by: deadline)[place.id] ?? Lineage()
        guard lineage.ownerships.last?.stamp == stamp else { return }
        try calls.note(lineage, of: place.id, epoch: epoch, connection, by: deadline)
    }

    private var deadline: ContinuousClock.Instant { .now + terms.answer }
}
