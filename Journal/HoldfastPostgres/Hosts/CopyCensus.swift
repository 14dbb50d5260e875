internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPQ

/// Looks for what the copies of a host have that the database lacks, since that went back in time.
///
/// Until hosts have looked, nobody takes a journal that was owned before (``LeaseTimes/takeAfter`` from the first who noticed).
/// Then it is for whoever has most of it.
struct CopyCensus: Sendable {
    let terms: HostTerms
    let directory: HostDirectory
    let onNews: @Sendable (HostNews) -> Void

    /// Claims the journals of which a copy is ahead of the database. Copies that are no use are set aside.
    ///
    /// - Parameter mine: the journals that this process has open.
    /// - Returns: the last commits of the copies that are ahead.
    func take(except mine: Set<Int32>, _ connection: PQConnection) throws(PQError) -> [Int32: UInt64] {
        let copies = directory.copies.filter { !mine.contains($0) }
        guard !copies.isEmpty else { return [:] }
        let calls = FleetCalls(terms.schema)
        let fleet = try calls.look(connection, by: deadline)
        let journals = try OwnershipCalls(terms.schema).list(connection, by: deadline)
        let lineages = try calls.lineages(connection, by: deadline)
        var ahead: [Int32: UInt64] = [:]
        for id in copies {
            let copy = directory.copy(of: id)
            guard let note = copy.note(), let last = copy.lastCommit(mapByteCount: terms.options.mapByteCount), last > 0
            else { continue }
            guard note.fleet == fleet.id, journals.contains(where: { $0.id == id && $0.name == note.name }) else {
                setAside(copy, note.name, .foreign)
                continue
            }
            let log = try LogCalls(terms.schema, journal: id).state(connection, by: deadline).last
            switch Lineage.standing(copy: (last, note.lineage), log: (log, lineages[id] ?? Lineage())) {
            case .behind: break
            case .apart: setAside(copy, note.name, .apart(copy: last, log: log))
            case .ahead:
                try calls.claim(id, upTo: last, connection, by: deadline)
                ahead[id] = last
            }
        }
        return ahead
    }

    /// A copy that can't be moved is left, and looked at again when its journal is opened.
    private func setAside(_ copy: CopyPlace, _ name: String, _ why: HostNews.SetAside) {
        do throws(LMDBError) { onNews(.setAside(journal: name, copy: try copy.setAside(), why: why)) } catch {}
    }

    private var deadline: ContinuousClock.Instant { .now + terms.answer }
}
