import Holdfast
import HoldfastLMDB

/// The journal's figures as of one commit. The writer changes a copy and keeps it when the commit is done.
struct JournalState: Sendable {
    var facts: FactsRecord
    /// Lane 1 first.
    var lanes: [LaneRecord]

    subscript(lane: UInt32) -> LaneRecord? {
        hasLane(lane) ? lanes[Int(lane) - 1] : nil
    }

    func hasLane(_ lane: UInt32) -> Bool { lane >= 1 && lane <= lanes.count }

    mutating func update(_ lane: UInt32, _ body: (inout LaneRecord) -> Void) {
        if hasLane(lane) { body(&lanes[Int(lane) - 1]) }
    }
}

extension JournalState {
    func wouldRaiseMarks(_ ceilings: [UInt64]) -> Bool {
        zip(lanes, ceilings).contains { lane, ceiling in lane.mark < min(ceiling, lane.lastUID) }
    }
}

/// One commit in the making: requests applied to a write transaction and to a copy of the figures.
struct CommitDraft: ~Copyable {
    let tables: EntriesStore.Tables
    let transaction: WriteTransaction
    let before: JournalState
    var state: JournalState
    let directory: String

    init(_ store: EntriesStore, _ state: JournalState, directory: String) throws(LMDBError) {
        tables = store.tables
        before = state
        self.state = state
        self.directory = directory
        transaction = try WriteTransaction(store.environment)
    }

    /// Applies what it can of one request.
    ///
    /// - Parameter budget: settlements and promotions that this commit may still hold.
    mutating func apply(_ pending: Pending, budget: Int) throws(LMDBError) -> Progress {
        switch pending.request {
        case .append(let submission, _):
            return try append(submission)
        case .refuse(_, let error):
            return .failed(error)
        case .settle(let batch, _):
            return try settle(batch, acknowledged: pending.acknowledged, from: pending.done, budget: budget)
        case .promote(let lane, let now, let limit, _):
            return try promote(lane.rawValue, now: now.milliseconds, limit: min(limit - pending.done, budget))
        case .lowerMark(let lane, let mark, _):
            state.update(lane.rawValue) { record in record.mark = min(record.mark, mark.rawValue) }
            return .markLowered
        case .openLane(let key, _):
            return try openLane(key)
        case .setNote(let name, let value, _):
            try setNote(name, value)
            return .noted
        case .removeRejections(let uids, _):
            return try removeRejections(uids[pending.done...].prefix(budget))
        }
    }

    /// Raises marks to their ceilings, writes what changed of the figures, and commits.
    ///
    /// - Parameter ceilings: by lane, lane 1 first.
    /// - Returns: the state on disk, and the pages in use.
    consuming func commit(ceilings: [UInt64]) throws(LMDBError) -> (JournalState, CommitFigures) {
        for (index, ceiling) in ceilings.enumerated() where index < state.lanes.count {
            let lane = state.lanes[index]
            state.lanes[index].mark = max(lane.mark, min(ceiling, lane.lastUID))
        }
        for (index, lane) in state.lanes.enumerated() {
            if index < before.lanes.count, lane.hasSameFigures(as: before.lanes[index]) { continue }
            let bytes = lane.bytes
            try transaction.put(Key.lane(UInt32(index) + 1).span, bytes.span, in: tables.lanes)
        }
        if state.facts != before.facts {
            let bytes = state.facts.bytes
            let key = EntriesStore.stateKey
            try transaction.put(key.span, bytes.span, in: tables.facts)
        }
        let figures = CommitFigures(
            usedPages: try transaction.usedPages(of: tables.all),
            rejections: try transaction.statistics(of: tables.rejections).entries)
        let state = state
        try transaction.commit()
        return (state, figures)
    }

    // MARK: Lanes and notes

    private mutating func openLane(_ key: LaneKey) throws(LMDBError) -> Progress {
        if let index = state.lanes.firstIndex(where: { lane in lane.key == key }) {
            return .laneOpened(LaneID(rawValue: UInt32(index) + 1))
        }
        let lane = LaneRecord(key: key)
        state.lanes.append(lane)
        let id = UInt32(state.lanes.count)
        let bytes = lane.bytes
        try transaction.put(Key.lane(id).span, bytes.span, in: tables.lanes)
        return .laneOpened(LaneID(rawValue: id))
    }

    func setNote(_ name: [UInt8], _ value: [UInt8]?) throws(LMDBError) {
        if let value {
            try transaction.put(name.span, NoteRecord.bytes(value).span, in: tables.notes)
        } else {
            _ = try transaction.delete(name.span, in: tables.notes)
        }
    }

    private mutating func removeRejections(_ uids: ArraySlice<UID>) throws(LMDBError) -> Progress {
        var removed = 0
        for uid in uids where try transaction.delete(Key.uid(uid.rawValue).span, in: tables.rejections) { removed += 1 }
        return .rejectionsRemoved(removed, parts: uids.count)
    }
}

/// What a commit left in the file.
struct CommitFigures: Sendable {
    var usedPages: Int
    var rejections: Int
}
