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
    private var identity: IdentityRecord?

    init(_ uid: UInt64, in snapshot: borrowing Snapshot, _ tables: EntriesStore.Tables) throws(LMDBError) {
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
        outcome = try snapshot.get(key.span, in: tables.outcomes)
        rejection = try snapshot.get(key.span, in: tables.rejections)
        identity = try snapshot.get(key.span, in: tables.identities).flatMap { IdentityRecord($0.span, uid: uid) }
    }

    func fate(in directory: String) throws(JournalError) -> EntryFate? {
        if let unconfirmed { return try fate(unconfirmed, in: directory) }
        do throws(EntryRecord.Fault) {
            _ = try lanes.get()
            if let rejection {
                return .settled(.rejected(try RejectionRecord.read(rejection.span).get().cause.reason))
            }
            if let outcome {
                return .settled(try OutcomeRecord.read(outcome, uid: uid, producers: []).terminal)
            }
            return identity?.outcome.map { outcome in .settled(outcome) }
        } catch {
            throw error.error(what: "what is kept of UID \(uid)", in: directory)
        }
    }

    private func fate(
        _ found: (lane: UInt32, place: Place, record: [UInt8]), in directory: String
    ) throws(JournalError) -> EntryFate? {
        do throws(EntryRecord.Fault) {
            let lane = try lanes.get()[Int(found.lane) - 1]
            let entry = try EntryRecord.read(found.record.span, lane: found.lane, uid: uid).get()
            let attempts = Int(entry.head.attempts)
            switch found.place {
            case .aside(let since):
                return .aside(lane.key, since: WallTime(milliseconds: since))
            case .entries:
                let possiblySent = uid <= lane.mark || entry.head.flags.contains(.possiblySent)
                return .unconfirmed(lane.key, attempts: attempts, possiblySent: possiblySent)
            case .deferred(let due):
                let reason = Reason(rawValue: String(decoding: found.record[entry.reason], as: UTF8.self))
                return .deferred(
                    lane.key, until: WallTime(milliseconds: due), attempts: attempts, reason: reason)
            }
        } catch {
            throw error.error(lane: found.lane, uid: uid, in: directory)
        }
    }
}
