import Holdfast
import HoldfastLMDB

/// Lanes, Producers and facts of a journal that is being salvaged: what is left of the old ones, and new ones for entries
/// that would have none.
struct SalvagedFigures {
    private var lanes: [UInt32: LaneRecord] = [:]
    private var producers: [UInt16: ProducerRecord] = [:]
    private var facts: FactsRecord?
    private var limit: UInt64 = 0
    /// Unconfirmed entries in the new journal, by Producer.
    private var unconfirmed: [UInt16: Int] = [:]
    /// Entries kept aside in it, by Producer.
    private var aside: [UInt16: Int] = [:]
    /// Entries in its quarantine, by Producer; under 0 when the Producer is not known.
    private var quarantined: [UInt16: Int] = [:]

    /// The most lanes that are taken from the file: a number beyond is garbage.
    private static let greatestLane: UInt32 = 4096

    /// Whether the secret of the identities is known; without it they are of no use.
    var hasFacts: Bool { facts != nil }
    /// The secret that digests are computed with; nil if it is lost, and a new one begins.
    var identityKey: IdentityKey? { facts?.identityKey }
    /// Whether the new journal has entries of which the newest wins.
    var hasNewest = false

    /// A row of a sound page.
    ///
    /// - Returns: false when it is damaged.
    mutating func take(_ table: String, _ key: [UInt8], _ value: [UInt8]) -> Bool {
        do throws(EntryRecord.Fault) {
            switch (table, key.count) {
            case ("lanes", 4):
                let number = key.span.bigEndian32(at: 0)
                guard (1...Self.greatestLane).contains(number) else { return false }
                lanes[number] = try LaneRecord(value)
            case ("producers", 2):
                let number = key.span.bigEndian16(at: 0)
                guard Self.isProducer(number) else { return false }
                producers[number] = try ProducerRecord(value)
            case ("facts", _) where key == EntriesStore.stateKey: facts = try FactsRecord(value)
            case ("facts", _) where key == EntriesStore.limitKey:
                guard let found = NumberRecord.value(value, key: key) else { return false }
                limit = found.number
            case ("facts", _): break
            default: return false
            }
            return true
        } catch {
            return false
        }
    }

    private static func isProducer(_ number: UInt16) -> Bool { (1...ProducerID.greatestCount).contains(Int(number)) }

    /// A record found outside of the trees: of several the newest.
    mutating func take(_ find: RecordCarver.Find) {
        switch find {
        case .lane(let number, let record) where (1...Self.greatestLane).contains(number):
            if lanes[number]?.lastUID ?? 0 <= record.lastUID { lanes[number] = record }
        case .producer(let number, let record) where Self.isProducer(number):
            if producers[number]?.figures.totals.accepted ?? 0 <= record.figures.totals.accepted {
                producers[number] = record
            }
        case .facts(let record):
            if facts.map({ ($0.openings, $0.nextUID) < (record.openings, record.nextUID) }) ?? true { facts = record }
        default: break
        }
    }

    /// Fills gaps in the numbers, and begins to count anew.
    ///
    /// - Returns: remarks for an operator.
    mutating func complete() -> [String] {
        var remarks: [String] = []
        for number in 1..<((lanes.keys.max() ?? 0) + 1) where lanes[number] == nil {
            let name = "salvaged-lane-\(number)"
            lanes[number] = LaneRecord(key: LaneKey(route: name, urgency: .immediate, guarantee: .atLeastOnce))
            remarks.append("The record of lane \(number) is lost: its entries are in a lane of the route \(name).")
        }
        for number in 1..<((producers.keys.max() ?? 0) + 1) where producers[number] == nil {
            producers[number] = ProducerRecord(name: "salvaged-\(number)")
            remarks.append("The record of Producer \(number) is lost: its name is salvaged-\(number) now.")
        }
        if facts == nil {
            remarks.append(
                "The journal's state is lost: its totals begin anew, and remembered identities are forgotten.")
        }
        for number in lanes.keys {
            lanes[number]?.entries = 0
            lanes[number]?.deferred = 0
            lanes[number]?.scheduled = 0
            lanes[number]?.held = 0
            lanes[number]?.flaggedEntries = 0
            lanes[number]?.flaggedDeferred = 0
        }
        return remarks
    }

    // MARK: Entries

    /// The record as it is put into the new journal: in a lane and of a Producer that exist.
    ///
    /// - Parameter flagged: whether its own word must be that it is possibly sent, since no mark covers it.
    mutating func fitted(_ record: [UInt8], flagged: Bool) -> ([UInt8], EntryRecord.Head) {
        var head = EntryRecord.uncheckedHead(record.span)
        let old = head
        if flagged { head.flags.insert(.possiblySent) }
        if lanes[head.lane] == nil { head.lane = lane(for: record) }
        if producers[head.producer] == nil { head.producer = producer(head.producer) }
        guard head != old else { return (record, head) }
        var bytes = record
        var span = bytes.mutableSpan
        span.store(head.flags.rawValue, at: 13)
        span.store(head.lane, at: 16)
        span.store(head.producer, at: 20)
        span.store(XXH64.hash(span.span, from: 8), at: 0)
        return (bytes, head)
    }

    /// The same of the record inside a rejection, which was read before.
    mutating func fitted(rejection: [UInt8]) -> [UInt8] {
        guard case .success(let old) = RejectionRecord.read(rejection.span) else { return rejection }
        let inner = Array(rejection[old.record])
        let (record, _) = fitted(inner, flagged: false)
        return record == inner ? rejection : RejectionRecord.bytes(old.cause, record: record)
    }

    /// A lane for an entry whose own is not known: of the only route there is, or of one with a name that tells.
    private mutating func lane(for record: [UInt8]) -> UInt32 {
        var (urgency, guarantee) = (Urgency.immediate, Guarantee.atLeastOnce)
        let body =
            EntryRecord.headerByteCount..<(EntryRecord.headerByteCount + Int(record.span.load(UInt32.self, at: 32)))
        do throws(PackedNotification.Damage) {
            let fields = try PackedNotification.Fields(record.span, in: body)
            guarantee = fields.expiration == 0 ? .atMostOnce : fields.guarantee
            if fields.priority == .considerate || fields.priority == .low { urgency = .considerate }
        } catch {
            // It was read before; whatever it is, it is in a lane then.
        }
        let routes = Set(lanes.values.map(\.key.route))
        let route = routes.count == 1 ? routes.first ?? "salvaged" : "salvaged"
        let key = LaneKey(route: route, urgency: urgency, guarantee: guarantee)
        if let known = lanes.first(where: { $0.value.key == key }) { return known.key }
        let number = (lanes.keys.max() ?? 0) + 1
        lanes[number] = LaneRecord(key: key)
        return number
    }

    private mutating func producer(_ number: UInt16) -> UInt16 {
        let name = "salvaged"
        if let known = producers.first(where: { $0.value.name == name }) { return known.key }
        let next = (producers.keys.max() ?? 0) + 1
        guard Self.isProducer(next) else { return 1 }
        producers[next] = ProducerRecord(name: name)
        return next
    }

    mutating func countQuarantined(of producer: UInt16) { quarantined[producer, default: 0] += 1 }

    mutating func countAside(_ head: EntryRecord.Head) {
        aside[head.producer, default: 0] += 1
        if var lane = lanes[head.lane] {
            lane.lastUID = max(lane.lastUID, head.uid)
            lanes[head.lane] = lane
        }
    }

    /// - Parameter due: of one that is deferred.
    mutating func count(_ head: EntryRecord.Head, due: WallTime?) {
        let isDeferred = due != nil
        let isFlagged = head.flags.contains(.possiblySent)
        unconfirmed[head.producer, default: 0] += 1
        guard var lane = lanes[head.lane] else { return }
        if isDeferred { lane.deferred += 1 } else { lane.entries += 1 }
        if due?.isScheduled == true { lane.scheduled += 1 }
        if due?.isPlaceOfTag == true { lane.held += 1 }
        if isFlagged, isDeferred { lane.flaggedDeferred += 1 }
        if isFlagged, !isDeferred { lane.flaggedEntries += 1 }
        lane.lastUID = max(lane.lastUID, head.uid)
        lanes[head.lane] = lane
    }

    // MARK: Rows

    /// The oldest that describes what is in the new journal.
    private var format: UInt32 {
        let hasSuperseded =
            facts?.totals.superseded ?? 0 > 0 || producers.values.contains { $0.figures.totals.superseded > 0 }
        if hasNewest || hasSuperseded || lanes.values.contains(where: { $0.scheduled > 0 || $0.held > 0 }) {
            return EntriesStore.scheduleFormat
        }
        return aside.isEmpty && quarantined.isEmpty ? EntriesStore.oldestFormat : EntriesStore.asideFormat
    }

    /// The rows of `lanes`, `producers` and `facts`, from the counts.
    ///
    /// - Parameters:
    ///   - hasLog: whether there are outcomes in the log, or readers.
    ///   - isSealed: whether the new journal is sealed.
    func rows(greatestUID: UInt64, hasLog: Bool, isSealed: Bool) -> [(table: String, key: [UInt8], value: [UInt8])] {
        var rows: [(table: String, key: [UInt8], value: [UInt8])] = []
        var facts = facts ?? FactsRecord(identityKey: .random())
        let greatest = lanes.values.reduce(greatestUID) { greatest, lane in max(greatest, lane.lastUID) }
        facts.nextUID = max(facts.nextUID, greatest &+ 1)
        if facts.nextUID < .max - CopyRule.jump { facts.nextUID += CopyRule.jump }
        facts.closedInOrder = false
        facts.totals.fit(open: [unconfirmed, aside, quarantined].flatMap(\.values).reduce(0, +))
        for (number, lane) in lanes {
            var lane = lane
            lane.mark = lane.lastUID
            rows.append(("lanes", Key.lane(number).span.array, lane.bytes))
        }
        for (number, producer) in producers {
            var producer = producer
            producer.figures.unconfirmed = unconfirmed[number] ?? 0
            let elsewhere = (aside[number] ?? 0) + (quarantined[number] ?? 0)
            producer.figures.totals.fit(open: producer.figures.unconfirmed + elsewhere)
            rows.append(("producers", Key.producer(number).span.array, producer.bytes))
        }
        var version: [UInt8] = []
        let format = hasLog ? max(format, EntriesStore.logFormat) : format
        version.appendLittleEndian(isSealed ? max(format, EntriesStore.sealedFormat) : format)
        rows.append(("facts", EntriesStore.formatKey, version))
        rows.append(("facts", EntriesStore.stateKey, facts.bytes))
        rows.append(("facts", EntriesStore.limitKey, NumberRecord.bytes(limit, key: EntriesStore.limitKey)))
        return rows
    }
}

extension JournalTotals {
    /// Drops lost entries from the totals: only open entries (unconfirmed or kept aside) and ended ones count.
    mutating func fit(open: Int) { accepted = UInt64(open) &+ ended }
}
