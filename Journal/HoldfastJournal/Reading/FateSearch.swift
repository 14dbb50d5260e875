import Holdfast
import HoldfastLMDB

/// Where one entry was found in one snapshot, not yet checked.
struct FateSearch {
    private enum Place {
        case entries
        case deferred(due: Int64)
        case aside(since: Int64)
    }

    private let uid: UInt64
    private var lanes: Result<[LaneRecord], EntryRecord.Fault>
    private var unconfirmed: (lane: UInt32, place: Place, record: [UInt8])?
    private var rejection: [UInt8]?
    private var outcome: [UInt8]?
    private var logged: TerminalOutcome?
    private var identity: IdentityRecord?
    private var quarantined: [UInt8]?

    /// - Parameter key: of the journal's identities.
    init(
        _ uid: UInt64, in snapshot: borrowing Snapshot, _ tables: EntriesStore.Tables, key identityKey: IdentityKey
    ) throws(LMDBError) {
        self.uid = uid
        lanes = try EntriesStore.lanes(in: snapshot, tables)
        guard case .success(let all) = lanes else { return }
        for lane in 1...UInt32(max(all.count, 1)) {
            let key = Key.entry(lane, uid)
            if let record = try snapshot.get(key.span, in: tables.entries) {
                unconfirmed = (lane, .entries, record)
                return
            }
            if let value = try snapshot.get(key.span, in: tables.deferredIndex), value.count == 8 {
                let due = Int64(bitPattern: value.span.load(UInt64.self, at: 0))
                let record = try snapshot.get(Key.deferred(lane, due: due, uid).span, in: tables.deferred)
                unconfirmed = (lane, .deferred(due: due), record ?? [])
                return
            }
            if let rows = tables.aside?.rows, let row = try snapshot.get(key.span, in: rows) {
                let since = AsideRecord.unchecked(row.span).since
                unconfirmed = (lane, .aside(since: since), AsideRecord.entry(row.span))
                return
            }
        }
        let key = Key.uid(uid)
        if let table = tables.quarantine { quarantined = try snapshot.get(key.span, in: table) }
        outcome = try snapshot.get(key.span, in: tables.outcomes)
        rejection = try snapshot.get(key.span, in: tables.rejections)
        identity = try snapshot.get(key.span, in: tables.identities).flatMap { IdentityRecord($0.span, uid: uid) }
        if rejection == nil, outcome == nil, let log = tables.outcomeLog {
            logged = try Self.logged(uid, in: snapshot, log, identityKey)
        }
    }

    private static func logged(
        _ uid: UInt64, in snapshot: borrowing Snapshot, _ tables: OutcomeTables, _ key: IdentityKey
    ) throws(LMDBError) -> TerminalOutcome? {
        var query = OutcomeQuery()
        query.uid = UID(uid)
        var search = OutcomeSearch(query, before: nil, limit: 1, mostBytes: .max, key: key, producers: [])
        while !search.isOver { try search.look(in: snapshot, tables) }
        return search.found.first?.terminal
    }

    /// One record that cannot be read says nothing, and hides nothing: where an entry lies is known by its key.
    ///
    /// - Throws: `damaged` when the lanes cannot be read.
    func fate(in directory: String) throws(JournalError) -> EntryFate? {
        let all: [LaneRecord]
        do throws(EntryRecord.Fault) { all = try lanes.get() } catch {
            throw error.error(what: "a lane's record", in: directory)
        }
        if let unconfirmed { return fate(unconfirmed, all[Int(unconfirmed.lane) - 1]) }
        if let quarantined { return fate(quarantined: quarantined, all) }
        return settled.map { outcome in .settled(outcome) }
    }

    private func fate(_ found: (lane: UInt32, place: Place, record: [UInt8]), _ lane: LaneRecord) -> EntryFate {
        let entry: EntryRecord? =
            switch EntryRecord.read(found.record.span, lane: found.lane, uid: uid) {
            case .success(let entry): entry
            case .failure: nil
            }
        let attempts = Int(entry?.head.attempts ?? 0)
        switch found.place {
        case .entries:
            let possiblySent = uid <= lane.mark || entry?.head.flags.contains(.possiblySent) == true
            return .unconfirmed(lane.key, attempts: attempts, possiblySent: possiblySent)
        case .deferred(let due):
            if let time = ScheduledPlace.time(of: WallTime(milliseconds: due)) {
                return .scheduled(lane.key, for: time, attempts: attempts)
            }
            let reason = entry.map { entry in String(decoding: found.record[entry.reason], as: UTF8.self) }
            return .deferred(
                lane.key, until: WallTime(milliseconds: due), attempts: attempts,
                reason: Reason(rawValue: reason ?? ""))
        case .aside(let since):
            return .aside(lane.key, since: WallTime(milliseconds: since))
        }
    }

    private func fate(quarantined bytes: [UInt8], _ lanes: [LaneRecord]) -> EntryFate? {
        do throws(EntryRecord.Fault) {
            let row = try QuarantineRecord(bytes, uid: uid)
            return lanes[checked: row.lane].map { lane in .quarantined(lane.key, possiblySent: row.isPossiblySent) }
        } catch {
            return nil
        }
    }

    private var settled: TerminalOutcome? {
        do throws(EntryRecord.Fault) {
            if let rejection { return .rejected(try RejectionRecord.read(rejection.span).get().cause.reason) }
        } catch {}
        do throws(EntryRecord.Fault) {
            if let outcome { return try OutcomeRecord.read(outcome, uid: uid, producers: []).terminal }
        } catch {}
        return logged ?? identity?.outcome
    }
}
