import Holdfast
import HoldfastLMDB

/// The journal's figures as of one commit. The writer changes a copy and keeps it when the commit is done.
struct JournalState: Sendable {
    var facts: FactsRecord
    /// Lane 1 first.
    var lanes: LaneTable
    /// Producer 1 first, and as many as there are names.
    var producers: [ProducerFigures]
    var producerNames: [String]
    /// The bounds of the log of outcomes.
    var log: OutcomeLogBounds
    var readers: [OutcomeReader]

    init(
        facts: FactsRecord, lanes: [LaneRecord] = [], producers: [ProducerRecord] = [],
        log: OutcomeLogBounds = OutcomeLogBounds(), readers: [OutcomeReader] = []
    ) {
        self.facts = facts
        self.log = log
        self.readers = readers
        self.lanes = LaneTable(lanes)
        self.producers = producers.map(\.figures)
        producerNames = producers.map(\.name)
    }

    subscript(lane: UInt32) -> LaneRecord? {
        hasLane(lane) ? lanes[Int(lane) - 1] : nil
    }

    var unconfirmed: Int { lanes.unconfirmed }

    func hasLane(_ lane: UInt32) -> Bool { lane >= 1 && lane <= lanes.count }

    mutating func update(_ lane: UInt32, _ body: (inout LaneRecord) -> Void) {
        if hasLane(lane) { body(&lanes[Int(lane) - 1]) }
    }

    func wouldRaiseMarks(_ ceilings: MarkCeilings) -> Bool {
        ceilings.raised.contains { index in
            index < lanes.count && lanes[index].mark < min(ceilings[index], lanes[index].lastUID)
        }
    }

    // MARK: Producers

    func hasProducer(_ producer: UInt16) -> Bool { producer >= 1 && producer <= producers.count }

    /// Counts entries that have ended, for the journal and for their Producer.
    ///
    /// - Parameter producer: by the entry's record, which may be damaged. With one Producer it is that one whatever the
    ///   record says; with several a number that was never given out counts for none.
    mutating func end(_ count: Int, of producer: UInt16, _ outcome: TerminalOutcome) {
        facts.totals.count(outcome, count)
        guard let index = index(of: producer) else { return }
        producers[index].unconfirmed = max(0, producers[index].unconfirmed - count)
        producers[index].totals.count(outcome, count)
    }

    /// Which of ``producers`` a record's number counts for; nil for none.
    func index(of producer: UInt16) -> Int? {
        let number = producers.count == 1 ? 1 : producer
        return hasProducer(number) ? Int(number) - 1 : nil
    }

    /// Producers that had unconfirmed entries and have none any more.
    func drained(since old: JournalState) -> [ProducerID] {
        var drained: [ProducerID] = []
        for (index, before) in old.producers.enumerated()
        where before.unconfirmed > 0 && producers[index].unconfirmed == 0 {
            drained.append(ProducerID(rawValue: UInt16(index) + 1))
        }
        return drained
    }
}

extension CommitReport {
    /// Makes the report of a commit from the states before and after it.
    init(from old: JournalState, to new: JournalState, measure: CommitMeasure) {
        var lanes: [CommitReport.Lane] = []
        for (index, before) in new.lanes.changed(since: old.lanes) {
            let lane = new.lanes[index]
            let before = before ?? LaneRecord(key: lane.key)
            if before.mark == lane.mark, before.lastUID == lane.lastUID { continue }
            lanes.append(
                CommitReport.Lane(
                    id: LaneID(rawValue: UInt32(index) + 1), lastUID: UID(lane.lastUID), mark: UID(lane.mark),
                    hasSchedules: lane.scheduled > 0))
        }
        self.init(
            lanes: lanes, drained: new.drained(since: old), newestOutcome: OutcomeCursor(new.log.newest),
            unreadOutcomes: new.log.figures(bytes: 0).unread(by: new.readers),
            changesOutcomes: new.log.newest != old.log.newest || new.readers != old.readers, measure: measure)
    }
}

/// Figures of the file after a commit.
struct CommitFigures: Sendable {
    /// Without those of the log of outcomes.
    var usedPages: Int
    /// Of the log of outcomes and its index, which have a limit of their own.
    var logPages: Int
    var rejections: Int
    var identities: Int
    var aside: Int
    var quarantined: Int
    /// Of what counts towards the limit and waits for no delivery.
    var rejectionPages: Int
    var identityPages: Int
    var quarantinePages: Int
    /// How long the commit that left them took to write its pages and to be on disk, or in the journal's gate.
    var syncDuration = Duration.zero

    init(_ transaction: borrowing some Transaction & ~Copyable, _ tables: EntriesStore.Tables) throws(LMDBError) {
        usedPages = try transaction.usedPages(of: tables.others)
        logPages = 0
        if let tables = tables.outcomeLog { logPages = try tables.pages(transaction) }
        let rejected = try transaction.statistics(of: tables.rejections)
        let remembered = try transaction.statistics(of: tables.identities)
        (rejections, rejectionPages) = (rejected.entries, rejected.pages)
        (identities, identityPages) = (remembered.entries, remembered.pages)
        aside = if let rows = tables.aside?.rows { try transaction.statistics(of: rows).entries } else { 0 }
        (quarantined, quarantinePages) = (0, 0)
        if let table = tables.quarantine {
            let unreadable = try transaction.statistics(of: table)
            (quarantined, quarantinePages) = (unreadable.entries, unreadable.pages)
        }
    }
}
