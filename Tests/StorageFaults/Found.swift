import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal

/// What a reopened journal says that it holds.
struct Found: Hashable, Sendable {
    struct Row: Hashable, Sendable {
        enum Place: Hashable, Sendable {
            case waiting
            case deferred(Int64)
            case rejected(Reason)
        }

        var lane: LaneKey
        let number: Int
        var attempts: Int
        var place: Place
    }

    var rows: [UInt64: Row] = [:]
    var lanes: [LaneKey] = []
    var marks: [UInt64] = []
    var totals = JournalTotals()
    var nextUID: UInt64 = 1
    var notes: [String: [UInt8]] = [:]
    var blacklist: Set<Int> = []
    var unconfirmed = 0
    var rejections = 0

    static let noteNames = ["note", "progress"]

    /// Reads all, through a reader that shares the journal's environments.
    init(_ journal: LMDBJournal, _ directory: String) throws {
        let status = try journal.status()
        lanes = status.lanes.map(\.key)
        marks = status.lanes.map(\.mark.rawValue)
        totals = status.totals
        nextUID = status.nextUID.rawValue
        unconfirmed = status.unconfirmed
        rejections = status.rejections
        for name in Self.noteNames { notes[name] = try journal.note(name) }
        let reader = try JournalReader(directory: directory)
        defer { reader.close() }
        for entry in try reader.entries(limit: .max) {
            let place: Row.Place =
                switch entry.state {
                case .neverSent, .possiblySent: .waiting
                case .deferred(let until): .deferred(until.milliseconds)
                case .scheduled(let time): .deferred(ScheduledPlace.due(for: time).milliseconds)
                case .rejected(let cause): .rejected(cause.reason)
                case .aside: preconditionFailure("\(entry.uid) is kept aside, and nobody has asked for those")
                }
            rows[entry.uid.rawValue] = Row(
                lane: entry.lane, number: Sample.number(of: entry.notification.token!), attempts: entry.attempts,
                place: place)
        }
        var last: Recipient?
        while true {
            let page = try journal.blacklist.list(after: last, limit: 1000)
            for entry in page { blacklist.insert(Sample.number(of: entry.token!)) }
            guard page.count == 1000, let end = page.last else { break }
            last = end.recipient
        }
    }

    /// What the figures say of the rows: a commit of which a half is there would show here.
    func checkFigures() throws {
        let rejected = rows.values.count { row in if case .rejected = row.place { true } else { false } }
        try expect(rejected == rejections, "\(rejections) rejections are counted, and \(rejected) are there")
        try expect(
            rows.count - rejected == unconfirmed,
            "\(unconfirmed) entries are counted, and \(rows.count - rejected) are there")
        let over = totals.ended
        try expect(
            totals.accepted == over + UInt64(unconfirmed),
            "of \(totals.accepted) accepted \(over) are settled and \(unconfirmed) are not")
        try expect(nextUID == totals.accepted + 1, "next UID \(nextUID) after \(totals.accepted)")
        try expect(rows.keys.allSatisfy { uid in uid < nextUID }, "an entry is at or above the next UID")
        for (uid, row) in rows {
            // Whoever is rejected for its token has that token blacklisted: the blacklist commits first.
            guard case .rejected(.unregistered) = row.place else { continue }
            try expect(blacklist.contains(row.number), "UID \(uid) is rejected, and its token is not blacklisted")
        }
    }
}

func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw Breach(what()) }
}
