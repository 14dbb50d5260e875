import Holdfast
import HoldfastLMDB

/// A filter against the lanes and Producers of one snapshot, ready to look at records where they lie.
///
/// A damaged record always matches: it might, and a listing has to report it.
struct EntryMatcher {
    let filter: EntryFilter
    private let lanes: [LaneRecord]
    /// Lane 1 first.
    private let isWanted: [Bool]
    /// By their numbers; nil for all.
    private let producers: Set<UInt16>?
    private let topics: [[UInt8]]
    private let channels: [[UInt8]]
    /// In lower case.
    private let reasons: Set<String>
    /// Whether more of a record counts than its key says.
    private let readsRecords: Bool

    init(_ filter: EntryFilter, lanes: [LaneRecord], producers: [String]) {
        self.filter = filter
        self.lanes = lanes
        isWanted = lanes.map { lane in
            filter.lanes.isEmpty || filter.lanes.contains { $0.matches(lane.key) }
        }
        self.producers =
            filter.producers.isEmpty
            ? nil
            : Set(producers.indices.filter { filter.producers.contains(producers[$0]) }.map { UInt16($0) + 1 })
        topics = filter.topics.map { Array($0.utf8) }
        channels = filter.channels.map { Array($0.id.utf8) }
        reasons = Set(filter.reasons.map { $0.rawValue.lowercased() })
        var rest = filter
        (rest.lanes, rest.uids, rest.states) = ([], .all, EntryFilter().states)
        readsRecords = rest != EntryFilter()
    }

    /// The UIDs above `after` to look at in a lane's table of entries; nil when there are none. The mark divides the two
    /// states, but for records above it that say of themselves that they are possibly sent.
    func entries(of lane: UInt32, after: UInt64) -> ClosedRange<UInt64>? {
        let record = lanes[Int(lane) - 1]
        var (low, high) = (after, UInt64.max)
        guard isWanted[Int(lane) - 1], low < .max else { return nil }
        switch (filter.states.contains(.possiblySent), filter.states.contains(.neverSent)) {
        case (false, false): return nil
        case (true, false): high = record.flaggedEntries > 0 ? .max : record.mark
        case (false, true): low = max(low, record.mark)
        case (true, true): break
        }
        return low < high ? (low + 1)...high : nil
    }

    /// The same in its table of deferred entries.
    func deferred(of lane: UInt32, after: UInt64) -> ClosedRange<UInt64>? {
        guard isWanted[Int(lane) - 1], after < .max, !filter.states.isDisjoint(with: [.deferred, .scheduled]) else {
            return nil
        }
        return (after + 1)...UInt64.max
    }

    /// Whether a deferred entry may be wanted that is due then.
    func wants(due: Int64) -> Bool {
        filter.states.contains(WallTime(milliseconds: due).isScheduled ? .scheduled : .deferred)
    }

    /// The same among those that are kept aside.
    func aside(of lane: UInt32, after: UInt64) -> ClosedRange<UInt64>? {
        guard isWanted[Int(lane) - 1], after < .max, filter.states.contains(.aside) else { return nil }
        return (after + 1)...UInt64.max
    }

    /// Whether an entry is wanted whose record lies in `entries`.
    func wants(waiting record: Span<UInt8>, lane: UInt32, uid: UInt64) -> Bool {
        let flagged = EntryRecord.uncheckedHead(record).flags.contains(.possiblySent)
        let kind: JournalEntry.StateKind =
            uid <= lanes[Int(lane) - 1].mark || flagged ? .possiblySent : .neverSent
        return filter.states.contains(kind) && wants(record, lane: lane, uid: uid)
    }

    /// Whether a rejection is wanted.
    func wants(rejection value: Span<UInt8>, uid: UInt64) -> Bool {
        guard readsRecords || !filter.lanes.isEmpty,
            case .success(let rejection) = RejectionRecord.read(value)
        else { return true }
        let record = value.extracting(rejection.record)
        // The key has no lane; the record says which.
        let lane = EntryRecord.uncheckedHead(record).lane
        if isWanted.indices.contains(Int(lane) - 1), !isWanted[Int(lane) - 1] { return false }
        return wants(record, lane: lane, uid: uid, cause: rejection.cause.reason)
    }

    /// Whether everything that the record itself says is as it is wanted.
    func wants(_ record: Span<UInt8>, lane: UInt32, uid: UInt64, cause: Reason? = nil) -> Bool {
        guard readsRecords else { return true }
        guard case .success(let entry) = EntryRecord.read(record, lane: lane, uid: uid) else { return true }
        guard Int(entry.head.attempts) >= filter.attempts, producers?.contains(entry.head.producer) ?? true,
            wants(cause: cause, record, entry.reason)
        else { return false }
        do throws(PackedNotification.Damage) {
            return wants(try PackedNotification.Fields(record, in: entry.body), record)
        } catch {
            return true
        }
    }

    private func wants(cause: Reason?, _ record: Span<UInt8>, _ last: Range<Int>) -> Bool {
        guard !reasons.isEmpty else { return true }
        if let cause { return reasons.contains(cause.rawValue.lowercased()) }
        var bytes: [UInt8] = []
        record.append(last, to: &bytes)
        return reasons.contains(String(decoding: bytes, as: UTF8.self).lowercased())
    }

    private func wants(_ fields: PackedNotification.Fields, _ record: Span<UInt8>) -> Bool {
        if let before = filter.acceptedBefore, fields.acceptedAt >= before { return false }
        if let after = filter.acceptedAfter, fields.acceptedAt <= after { return false }
        if !filter.ids.isEmpty, !filter.ids.contains(fields.id) { return false }
        if !topics.isEmpty,
            !topics.contains(where: { $0.count == fields.topic.count && record.begins(in: fields.topic, with: $0) })
        {
            return false
        }
        guard wantsRecipient(fields, record) else { return false }
        return filter.tags.isEmpty || filter.tags.contains { $0.matches(record, in: fields.tag) }
    }

    /// Tokens, channels and addresses are ways to say for whom.
    private func wantsRecipient(_ fields: PackedNotification.Fields, _ record: Span<UInt8>) -> Bool {
        if filter.tokens.isEmpty, channels.isEmpty, filter.addresses.isEmpty { return true }
        if let kind = fields.service {
            return filter.addresses.contains {
                $0.kind == kind && $0.bytes.count == fields.address.count
                    && record.begins(in: fields.address, with: $0.bytes)
            }
        }
        if let token = fields.token { return filter.tokens.contains { $0.matches(record, in: token) } }
        return channels.contains {
            $0.count == fields.address.count && record.begins(in: fields.address, with: $0)
        }
    }
}
