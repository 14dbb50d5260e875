import Holdfast

/// A journal as simple as can be, to which a history's requests are applied in the smallest steps that a commit may end
/// between.
struct Model {
    private(set) var rows: [UInt64: Found.Row] = [:]
    /// Whose records say that they may have been sent.
    private var flagged: Set<UInt64> = []
    private(set) var lanes: [LaneKey] = []
    private(set) var totals = JournalTotals()
    private(set) var nextUID: UInt64 = 1
    private(set) var notes: [String: [UInt8]] = [:]

    enum Step {
        case openLane(LaneKey)
        case append([History.Item], note: (name: String, value: [UInt8])?)
        case duplicates(Int)
        case acknowledge(UInt64)
        case settle(Settlement)
        case promoteOne(UInt32, now: Int64)
        case setNote(String, [UInt8]?)
        case removeRejection(UInt64)
    }

    static func steps(of request: History.Request) -> [Step] {
        switch request {
        case .openLane(let key): [.openLane(key)]
        case .append(let items, let note): [.append(items, note: note)]
        case .settle(let batch):
            batch.acknowledged.sorted { lhs, rhs in
                lhs.lane == rhs.lane ? lhs.uid < rhs.uid : lhs.lane.rawValue < rhs.lane.rawValue
            }.map { key in .acknowledge(key.uid.rawValue) }
                + batch.others.map { settlement in .settle(settlement) }
                + [.duplicates(batch.possibleDuplicates)]
        case .promote(let lane, let now, let limit):
            [Step](repeating: .promoteOne(lane, now: now), count: limit)
        case .setNote(let name, let value): [.setNote(name, value)]
        case .removeRejections(let uids): uids.map { uid in .removeRejection(uid.rawValue) }
        }
    }

    mutating func apply(_ step: Step) {
        switch step {
        case .openLane(let key):
            if !lanes.contains(key) { lanes.append(key) }
        case .append(let items, let note):
            for item in items {
                rows[nextUID] = .init(
                    lane: lanes[Int(item.lane) - 1], number: item.number, attempts: 0, place: .waiting)
                nextUID += 1
            }
            totals.accepted += UInt64(items.count)
            if let note { notes[note.name] = note.value }
        case .duplicates(let count): totals.possibleDuplicates += UInt64(count)
        case .acknowledge(let uid):
            if take(uid) != nil { totals.confirmed += 1 }
        case .settle(let settlement): settle(settlement)
        case .promoteOne(let lane, let now): promoteOne(lanes[Int(lane) - 1], now)
        case .setNote(let name, let value): notes[name] = value
        case .removeRejection(let uid):
            if case .rejected = rows[uid]?.place { rows[uid] = nil }
        }
    }

    private mutating func take(_ uid: UInt64) -> Found.Row? {
        guard let row = rows[uid] else { return nil }
        if case .rejected = row.place { return nil }
        rows[uid] = nil
        return row
    }

    private mutating func settle(_ settlement: Settlement) {
        let uid = settlement.key.uid.rawValue
        switch settlement.kind {
        case .deferUntil(let due, let attempts, _, let possiblySent):
            guard var row = rows[uid], row.place == .waiting else { return }
            row.place = .deferred(due.milliseconds)
            row.attempts = Int(attempts)
            rows[uid] = row
            if possiblySent { flagged.insert(uid) }
        case .move(let lane, let due, _, let possiblySent):
            guard var row = rows[uid], row.place == .waiting else { return }
            row.place = .deferred(due.milliseconds)
            row.lane = lanes[Int(lane.rawValue) - 1]
            rows[uid] = row
            if possiblySent { flagged.insert(uid) }
        case .recall:
            // Nothing is kept aside here, so nothing is recalled.
            break
        case .reject(let cause):
            guard var row = take(uid) else { return }
            row.place = .rejected(cause.reason)
            rows[uid] = row
            totals.rejected += 1
        case .expire:
            if take(uid) != nil { totals.expired += 1 }
        case .unknown, .withdrawSent:
            if take(uid) != nil { totals.unknown += 1 }
        case .withdraw:
            guard take(uid) != nil else { return }
            if flagged.contains(uid) { totals.unknown += 1 } else { totals.withdrawn += 1 }
        case .supersede:
            guard take(uid) != nil else { return }
            if flagged.contains(uid) { totals.unknown += 1 } else { totals.superseded += 1 }
        }
    }

    private mutating func promoteOne(_ lane: LaneKey, _ now: Int64) {
        var first: (due: Int64, uid: UInt64)?
        for (uid, row) in rows where row.lane == lane {
            guard case .deferred(let due) = row.place, due <= now else { continue }
            if let found = first, found < (due, uid) { continue }
            first = (due, uid)
        }
        if let first { rows[first.uid]?.place = .waiting }
    }

    func matches(_ found: Found) -> Bool {
        nextUID == found.nextUID && totals == found.totals && lanes == found.lanes && rows.count == found.rows.count
            && notes == found.notes && rows == found.rows
    }
}
