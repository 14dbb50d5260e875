package import Holdfast
import HoldfastLMDB

extension JournalReader {
    /// Entries of all lanes, deferred ones and rejections, in UID order, from the first above `after`.
    ///
    /// Fewer than `limit` are returned only at the end. Those whose records cannot be read are left out.
    ///
    /// - Parameter states: which to list; nil for all but those kept aside.
    package func entries(
        after: UID = .none, limit: Int, states: Set<JournalEntry.StateKind>? = nil
    ) throws(JournalError) -> [JournalEntry] {
        var filter = EntryFilter()
        if let states { filter.states = states }
        return try entries(matching: filter, after: after, limit: limit)
    }

    /// Entries of all lanes, deferred ones and rejections, that `filter` wants, in UID order, from the first above
    /// `after`.
    ///
    /// Fewer than `limit` are returned only at the end. Those whose records cannot be read are left out. For long listings,
    /// and to know how many were left out, see ``listing(matching:after:limit:)``.
    ///
    /// - Parameter limit: the most entries. All of them are held in memory.
    package func entries(
        matching filter: EntryFilter, after: UID = .none, limit: Int
    ) throws(JournalError) -> [JournalEntry] {
        var listing = listing(matching: filter, after: after, limit: limit)
        var entries: [JournalEntry] = []
        while let page = try listing.next() { entries += page }
        return entries
    }

    /// The same entries page by page.
    ///
    /// - Parameter limit: the most entries of all pages.
    package func listing(matching filter: EntryFilter, after: UID = .none, limit: Int = .max) -> EntryListing {
        EntryListing(self, filter, after: after, limit: limit)
    }

    /// The entry of that UID, wherever it lies; nil when it is settled, or never was.
    package func entry(_ uid: UID) throws(JournalError) -> JournalEntry? {
        guard uid > .none else { return nil }
        var filter = EntryFilter()
        filter.uids = UIDRanges([uid])
        filter.states = Set(JournalEntry.StateKind.allCases)
        return try entries(matching: filter, limit: 1).first
    }
}

extension EntryRow {
    /// - Parameter producers: the names, Producer 1 first.
    func entry(
        _ lanes: [LaneRecord], _ producers: [String], in directory: String
    ) throws(JournalError) -> JournalEntry {
        do throws(EntryRecord.Fault) {
            return try entry(lanes, producers)
        } catch {
            throw error.error(lane: lane, uid: uid, in: directory)
        }
    }

    private func entry(_ lanes: [LaneRecord], _ producers: [String]) throws(EntryRecord.Fault) -> JournalEntry {
        switch place {
        case .entries:
            guard let mark = lanes[checked: lane]?.mark else { throw .damaged("its lane is unknown") }
            let flagged = EntryRecord.uncheckedHead(bytes.span).flags.contains(.possiblySent)
            return try entry(bytes, lanes, producers, lane, uid <= mark || flagged ? .possiblySent : .neverSent)
        case .deferred(let due):
            let due = WallTime(milliseconds: due)
            let state = ScheduledPlace.time(of: due).map { JournalEntry.State.scheduled(for: $0) }
            return try entry(bytes, lanes, producers, lane, state ?? .deferred(until: due))
        case .aside(let since):
            return try entry(bytes, lanes, producers, lane, .aside(since: WallTime(milliseconds: since)))
        case .rejections:
            let rejection = try RejectionRecord.read(bytes.span).get()
            let record = Array(bytes[rejection.record])
            // The key has no lane; the record says which.
            let lane = EntryRecord.uncheckedHead(record.span).lane
            return try entry(record, lanes, producers, lane, .rejected(rejection.cause))
        }
    }

    private func entry(
        _ bytes: [UInt8], _ lanes: [LaneRecord], _ producers: [String], _ lane: UInt32, _ state: JournalEntry.State
    ) throws(EntryRecord.Fault) -> JournalEntry {
        let record = try EntryRecord.read(bytes.span, lane: lane, uid: uid).get()
        guard let key = lanes[checked: lane]?.key else { throw .damaged("its lane is unknown") }
        let fields = try record.fields(in: bytes)
        return JournalEntry(
            uid: UID(uid), lane: key, producer: producers.name(of: record.head.producer), state: state,
            isPossiblySent: state == .possiblySent || record.head.flags.contains(.possiblySent),
            attempts: Int(record.head.attempts), acceptedAt: fields.acceptedAt,
            lastReason: record.reason.isEmpty
                ? nil : Reason(rawValue: String(decoding: bytes[record.reason], as: UTF8.self)),
            retryOf: fields.retryOf == .none ? nil : fields.retryOf, notification: PushNotification(fields, in: bytes))
    }
}

extension [LaneRecord] {
    /// The lane of that number, which runs from 1.
    subscript(checked lane: UInt32) -> LaneRecord? {
        lane >= 1 && lane <= count ? self[Int(lane) - 1] : nil
    }
}
