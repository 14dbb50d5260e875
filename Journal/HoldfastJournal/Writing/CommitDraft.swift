import Holdfast
import HoldfastLMDB

/// One commit in the making: requests applied to a write transaction and to a copy of the figures.
struct CommitDraft: ~Copyable {
    let tables: EntriesStore.Tables
    let transaction: WriteTransaction
    let before: JournalState
    var state: JournalState
    /// Called when the commit is done or has failed, by its maker.
    let identities: IdentityIndex
    /// As ``identities``.
    let outcomes: OutcomeAppender
    let pageByteCount: Int
    let directory: String
    /// There is no room for what only may be needed.
    let keepsNothingAside: Bool
    /// The rows that its submissions take out of the queue of the journal's gate.
    var taken: [QueueRow] = []
    /// The latest time at which one of those was accepted.
    var takenAt = WallTime(milliseconds: 0)
    /// The identities that it adds, for the journal's gate; none without one.
    var claims: [CommitClaim] = []
    /// Identities that other journals with such a gate have, and the UIDs there.
    let elsewhere: [Identity: UInt64]
    /// When to take in no more of what takes several commits; nil for never.
    var deadline: ContinuousClock.Instant?
    /// The pages that the log of outcomes may have behind this commit, and those that it had before; nil for no limit.
    private(set) var logLimit: (pages: Int, pagesBefore: Int)?
    /// The same of remembered identities.
    private(set) var identityLimit: (pages: Int, pagesBefore: Int)?

    init(
        _ store: EntriesStore, _ state: JournalState, _ identities: IdentityIndex, _ outcomes: OutcomeAppender,
        elsewhere: [Identity: UInt64] = [:], directory: String, pageByteCount: Int, keepsNothingAside: Bool = false
    ) throws(LMDBError) {
        self.elsewhere = elsewhere
        self.outcomes = outcomes
        self.pageByteCount = pageByteCount
        self.keepsNothingAside = keepsNothingAside
        tables = store.tables
        before = state
        self.state = state
        self.identities = identities
        self.directory = directory
        transaction = try WriteTransaction(store.environment)
    }

    /// Has the commit keep the log of outcomes to a limit.
    ///
    /// - Precondition: nothing was applied yet.
    mutating func limitLog(to bytes: Int) throws(LMDBError) {
        guard let tables = tables.outcomeLog else { return }
        logLimit = (max(0, bytes) / pageByteCount, try tables.pages(transaction))
    }

    /// Has the commit keep what is remembered to a limit.
    ///
    /// - Precondition: nothing was applied yet.
    mutating func limitIdentities(toPages pages: Int) throws(LMDBError) {
        identityLimit = (pages, try transaction.statistics(of: tables.identities).pages)
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
            return try settle(
                batch, acknowledged: pending.acknowledged, quieted: pending.quieted, from: pending.done,
                budget: budget)
        case .promote(let lane, let after, let now, let limit, _):
            return try promote(
                lane.rawValue, after: after?.milliseconds, now: now.milliseconds,
                limit: min(limit - pending.done, budget))
        case .lowerMark(let lane, let mark, _):
            state.update(lane.rawValue) { record in record.mark = min(record.mark, mark.rawValue) }
            return .markLowered
        case .setState(let lane, let laneState, _):
            guard state.hasLane(lane.rawValue) else {
                return .failed(JournalError(.notFound, "\(directory) has no lane number \(lane.rawValue)"))
            }
            state.update(lane.rawValue) { record in record.state = laneState.cut }
            return .stateSet
        case .openLanes(let keys, _):
            var lanes: [LaneID] = []
            for key in keys { lanes.append(try openLane(key)) }
            return .lanesOpened(lanes)
        case .openProducer(let name, _):
            return openProducer(name)
        case .setNote(let name, let value, _):
            try setNote(name, value)
            return .noted
        case .quarantine(let order, _):
            return try quarantine(order, from: pending.done, budget: budget)
        case .retryQuarantined(let uids, let now, _):
            return try retryQuarantined(uids, now: now, from: pending.done, budget: budget)
        case .openReader(let name, let isWaitedFor, _):
            return try openReader(name, isWaitedFor: isWaitedFor)
        case .setReader(let name, let cursor, _):
            return try setReader(name, to: cursor)
        case .removeRejections(let uids, _):
            return try remove(uids[pending.done...].prefix(budget), from: tables.rejections)
        case .trim, .index:
            preconditionFailure("trims and indexes are not applied as other requests are")
        }
    }

    /// A contradiction in the figures that only damage can cause; `nil` when there is none. For example, a search in an
    /// older page finds a row that ended long ago, and takes out one more than the record counts.
    ///
    /// - Returns: for people, beginning with what it is about.
    var damage: String? {
        for (index, _) in state.lanes.changed(since: before.lanes) {
            let lane = state.lanes[index]
            if lane.entries < 0 || lane.deferred < 0 || lane.scheduled < 0 || lane.held < 0 {
                return "lane \(index + 1) has had more entries taken out than its record says that there were"
            }
        }
        return nil
    }

    /// Raises marks to their ceilings, writes what changed of the figures, and commits.
    ///
    /// - Returns: the state on disk and the pages in use, if other journals have none of its identities.
    consuming func commit(ceilings: MarkCeilings) throws(LMDBError) -> Ending {
        raiseMarks(to: ceilings)
        try keepIdentitiesToLimit()
        try storeLog()
        for (index, old) in state.lanes.changed(since: before.lanes) {
            let lane = state.lanes[index]
            if let old, lane.hasSameFigures(as: old) { continue }
            let bytes = lane.bytes
            try transaction.put(Key.lane(UInt32(index) + 1).span, bytes.span, in: tables.lanes)
        }
        for (index, figures) in state.producers.enumerated() {
            if index < before.producers.count, figures == before.producers[index] { continue }
            let bytes = ProducerRecord(name: state.producerNames[index], figures: figures).bytes
            try transaction.put(Key.producer(UInt16(index) + 1).span, bytes.span, in: tables.producers)
        }
        // What is repeats alone takes its rows, too, and the gate keeps nothing that changes nothing.
        if state.facts != before.facts || !taken.isEmpty {
            let bytes = state.facts.bytes
            let key = EntriesStore.stateKey
            try transaction.put(key.span, bytes.span, in: tables.facts)
        }
        try noteTaken()
        var figures = try CommitFigures(transaction, tables)
        let (state, taken, claims) = (state, taken, claims)
        let start = ContinuousClock.now
        let others = try transaction.commit(taking: taken.map(\.number), claiming: claims)
        figures.syncDuration = ContinuousClock.now - start
        return others.isEmpty ? .committed(state, figures) : .repeats(others)
    }

    enum Ending {
        case committed(JournalState, CommitFigures)
        /// Nothing was committed. Other journals have these identities, under these UIDs.
        case repeats([CommitClaim])
    }

    /// Only a lane whose ceiling was raised, or which has a new entry, can have a mark that rises.
    private mutating func raiseMarks(to ceilings: MarkCeilings) {
        let changed = state.lanes.changed(since: before.lanes).map(\.index)
        for index in ceilings.raised.union(changed) where index < state.lanes.count {
            let lane = state.lanes[index]
            let mark = min(ceilings[index], lane.lastUID)
            if mark > lane.mark { state.lanes[index].mark = mark }
        }
    }

    // MARK: Lanes, Producers and notes

    private mutating func openLane(_ key: LaneKey) throws(LMDBError) -> LaneID {
        if let index = state.lanes.firstIndex(of: key) {
            return LaneID(rawValue: UInt32(index) + 1)
        }
        let lane = LaneRecord(key: key)
        state.lanes.append(lane)
        let id = UInt32(state.lanes.count)
        let bytes = lane.bytes
        try transaction.put(Key.lane(id).span, bytes.span, in: tables.lanes)
        return LaneID(rawValue: id)
    }

    /// A new one is written with the figures, at the commit.
    private mutating func openProducer(_ name: String) -> Progress {
        if let index = state.producerNames.firstIndex(of: name) {
            return .producerOpened(ProducerID(rawValue: UInt16(index) + 1))
        }
        guard state.producers.count < ProducerID.greatestCount else {
            return .failed(
                JournalError(
                    .tooManyProducers,
                    "\(directory) tells at most \(ProducerID.greatestCount) Producers apart, and has as many: use one of "
                        + "their names"))
        }
        state.producerNames.append(name)
        state.producers.append(ProducerFigures())
        return .producerOpened(ProducerID(rawValue: UInt16(state.producers.count)))
    }

    func setNote(_ name: [UInt8], _ value: [UInt8]?) throws(LMDBError) {
        if let value {
            try transaction.put(name.span, NoteRecord.bytes(value, name: name).span, in: tables.notes)
        } else {
            _ = try transaction.delete(name.span, in: tables.notes)
        }
    }

    private mutating func remove(_ uids: ArraySlice<UID>, from table: Table) throws(LMDBError) -> Progress {
        var removed = 0
        var parts = 0
        for uid in uids {
            if isOver(after: parts) { break }
            parts += 1
            if try transaction.delete(Key.uid(uid.rawValue).span, in: table) { removed += 1 }
        }
        return .removed(removed, parts: parts)
    }
}
