import Holdfast
import HoldfastLMDB

/// The state of the whole journal in one snapshot, not yet checked.
struct StoredState {
    private let lanes: Result<[LaneRecord], EntryRecord.Fault>
    private let producers: Result<[ProducerRecord], EntryRecord.Fault>
    private let facts: [UInt8]?
    let log: StoredOutcomeLog
    let figures: CommitFigures
    /// 0 when it is not known.
    let limit: Int
    private let rows: (entries: Int, deferred: Int)

    init(_ snapshot: borrowing Snapshot, _ tables: EntriesStore.Tables) throws(LMDBError) {
        let stateKey = EntriesStore.stateKey
        let limitKey = EntriesStore.limitKey
        lanes = try EntriesStore.lanes(in: snapshot, tables)
        producers = try EntriesStore.producers(in: snapshot, tables)
        facts = try snapshot.get(stateKey.span, in: tables.facts)
        let number = try snapshot.get(limitKey.span, in: tables.facts)
        limit = Int(clamping: number.flatMap { NumberRecord.value($0, key: limitKey) }?.number ?? 0)
        figures = try CommitFigures(snapshot, tables)
        log = try StoredOutcomeLog(snapshot, facts: tables.facts, tables.outcomeLog)
        rows = (
            try snapshot.statistics(of: tables.entries).entries, try snapshot.statistics(of: tables.deferred).entries
        )
    }

    /// Throws when the figures are not those of the rows.
    func refuseContradiction(of state: JournalState, in directory: String) throws(JournalError) {
        let what = state.contradiction(
            entries: rows.entries, deferred: rows.deferred, elsewhere: figures.aside + figures.quarantined)
        guard let what else { return }
        throw .damaged("\(directory)/entries/data.mdb is damaged: \(what)", in: directory)
    }

    /// A journal just made has no facts yet, and starts with none, and with a key of its own.
    ///
    /// - Parameter newKey: for a journal just made; nil for a random one.
    func state(in directory: String, newKey: IdentityKey? = nil) throws(JournalError) -> JournalState {
        var what = "a lane's record"
        do throws(EntryRecord.Fault) {
            let lanes = try lanes.get()
            what = "a Producer's record"
            let producers = try producers.get()
            what = "its state"
            return JournalState(
                facts: try facts.map { (bytes) throws(EntryRecord.Fault) in try FactsRecord(bytes) }
                    ?? FactsRecord(identityKey: newKey ?? .random()),
                lanes: lanes, producers: producers, log: log.bounds, readers: log.readers)
        } catch {
            throw error.error(what: what, in: directory)
        }
    }
}
