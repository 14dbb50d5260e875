internal import Holdfast
internal import HoldfastAPNsAnswers

extension JournalConformance {
    static let newest: [Rule] = [
        Rule("Of notifications of which the newest wins the journal knows the newest, as long as one has not ended") {
            bench in
            let lane = try bench.lane()
            _ = try bench.append(try submission(bench, ["a", "b", "a"], lane: lane))
            try expect("of a", try newest(bench, "a"), is: entries(newest: 3, open: 2))
            try expect("of b", try newest(bench, "b"), is: entries(newest: 2, open: 1))
            try expect("of another", try newest(bench, "c"), is: nil)
            try bench.reopen()
            let again = try bench.lane()
            try expect("the older one", try bench.settle([UID(1)], again, .supersede).settled, is: 1)
            try expect("of a then", try newest(bench, "a"), is: entries(newest: 3, open: 1))
            try expect("the newest", try bench.acknowledge([UID(3), UID(2)], again).settled, is: 2)
            for id in ["a", "b"] { try expect("of \(id) at the end", try newest(bench, id), is: nil) }
            let totals = try bench.journal.status().totals
            try expect("superseded, confirmed", [totals.superseded, totals.confirmed], is: [1, 2])
            try expect("ended", totals.ended, is: totals.accepted)
        },
        Rule("One that was taken stays known, and one that was not stands for nothing") { bench in
            let kinds: [(Settlement.Kind?, isTaken: Bool)] = [
                (nil, true), (.unknown, true), (.expire, false), (.withdraw, false), (.supersede, false),
                (.reject(sampleCause), false),
            ]
            let lane = try bench.lane()
            for (index, (kind, isTaken)) in kinds.enumerated() {
                let id = "id \(index)"
                let first = try bench.append(try submission(bench, [id, id], lane: lane)).first
                let newer = UID(first.rawValue + 1)
                if let kind { try bench.settle([newer], lane, kind) } else { try bench.acknowledge([newer], lane) }
                let known = try unwrap("what is known of \(id)", newest(bench, id))
                let expected = NewestEntries(newest: .none, open: 1, taken: isTaken ? newer : .none)
                try expect("after \(kind.map { "\($0)" } ?? "acknowledged")", known, is: expected)
                try expect("the older one", try bench.acknowledge([first], lane).settled, is: 1)
                try expect("at the end", try newest(bench, id), is: nil)
            }
        },
        Rule("What becomes of a newer one, or of an older one, takes nothing from the one that was taken") { bench in
            let lane = try bench.lane()
            _ = try bench.append(try submission(bench, ["a", "a", "a", "a"], lane: lane))
            try bench.acknowledge([UID(3)], lane)
            try bench.settle([UID(2)], lane, .unknown)
            try expect("the last one waits", try newest(bench, "a"), is: entries(newest: 4, open: 2, taken: 3))
            try bench.settle([UID(4)], lane, .reject(sampleCause))
            try bench.reopen()
            let known = try unwrap("what is known", newest(bench, "a"))
            try expect("it was rejected", known, is: NewestEntries(newest: .none, open: 1, taken: UID(3)))
            let now = JournalBench.now
            try expect("in place of the first", known.successor(of: UID(1), at: now), is: UID(3))
            try expect("in place of the third", known.successor(of: UID(3), at: now), is: nil)
        },
        Rule("What is superseded ends as superseded; what may have been sent by its record, as unknown") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            _ = try bench.deferEntries([uids[1]], lane, until: 10, possiblySent: true)
            _ = try bench.deferEntries([uids[2]], lane, until: 10, possiblySent: false)
            try expect("the report", try bench.settle(uids, lane, .supersede, keepsOutcomes: true).settled, is: 3)
            try expect("once more", try bench.settle(uids, lane, .supersede, keepsOutcomes: true).gone, is: 3)
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                let outcomes = try bench.journal.outcomes(after: .start, limit: 10).outcomes
                try expect("outcomes", outcomes.map(\.terminal), is: [.superseded, .unknown, .superseded])
                let totals = try bench.journal.status().totals
                try expect("superseded, unknown", [totals.superseded, totals.unknown], is: [2, 1])
                let producer = try unwrap("the Producer", bench.journal.producers().first)
                try expect("the Producer's", [producer.totals.superseded, producer.totals.unknown], is: [2, 1])
                try expect("its backlog", producer.unconfirmed, is: 0)
            }
        },
        Rule("Deferred, scheduled and quieted entries are among those of which the newest wins") { bench in
            let lane = try bench.lane()
            var submission = try submission(bench, ["a", "a", "a"], lane: lane)
            submission.schedules = [(2, WallTime(milliseconds: 50))]
            _ = try bench.append(submission)
            _ = try bench.deferEntries([UID(1)], lane, until: 10)
            try expect("of a", try newest(bench, "a"), is: entries(newest: 3, open: 3))
            try bench.settle(
                SettlementBatch(quieted: [EntryKey(lane: lane, uid: UID(2))], greatestAside: 10))
            try expect("of a, one aside", try newest(bench, "a"), is: entries(newest: 3, open: 3))
            _ = try bench.trim(TrimBounds(greatestAside: 0))
            try expect("of a, one confirmed", try newest(bench, "a"), is: entries(newest: 3, open: 2, taken: 2))
            try bench.settle([UID(1), UID(3)], lane, .withdraw)
            try expect("at the end", try newest(bench, "a"), is: nil)
        },
        Rule("An entry that is moved to another lane stays among those of which the newest wins") { bench in
            let (lane, other) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            _ = try bench.append(try submission(bench, ["a", "a"], lane: lane))
            let due = WallTime(milliseconds: 10)
            try bench.settle([UID(1)], lane, .move(to: other, due: due, reason: .badDeviceToken, possiblySent: false))
            try expect("of a", try newest(bench, "a"), is: entries(newest: 2, open: 2))
            try bench.reopen()
            _ = (try bench.lane(), try bench.lane(JournalBench.considerate))
            try expect("the older one", try bench.settle([UID(1)], other, .supersede).settled, is: 1)
            try expect("of a then", try newest(bench, "a"), is: entries(newest: 2, open: 1))
            try expect("the newest", try bench.acknowledge([UID(2)], lane).settled, is: 1)
            try expect("at the end", try newest(bench, "a"), is: nil)
        },
    ]

    /// Of each of them.
    private static let expiration: UInt32 = 4_000_000_000

    private static func entries(newest: UInt64, open: UInt32, taken: UInt64 = 0) -> NewestEntries {
        NewestEntries(newest: UID(newest), open: open, expiration: expiration, taken: UID(taken))
    }

    private static func notification(_ collapseID: String) -> PushNotification {
        var notification = SampleNotification.numbered(1)
        (notification.collapseID, notification.newestWins) = (collapseID, true)
        return notification
    }

    private static func submission(_ bench: JournalBench, _ collapseIDs: [String], lane: LaneID) throws -> Submission {
        var submission = Submission(
            producer: try bench.producer(), acceptedAt: JournalBench.now, earliestTime: JournalBench.now)
        for (index, id) in collapseIDs.enumerated() {
            let start = submission.bytes.count
            PackedNotification.append(
                notification(id), id: SampleNotification.id(index), expiration: .unstated(until: Int64(expiration)),
                acceptedAt: SampleNotification.acceptedAt, producer: "", to: &submission.bytes)
            submission.items.append(Submission.Item(lane: lane, range: start..<submission.bytes.count))
        }
        return submission
    }

    private static func newest(_ bench: JournalBench, _ collapseID: String) throws -> NewestEntries? {
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification(collapseID), id: SampleNotification.id(1), expiration: .once,
            acceptedAt: SampleNotification.acceptedAt, producer: "", to: &bytes)
        let key = try unwrap(
            "the key", NewestKey(packed: bytes.span, in: bytes.indices, key: bench.journal.identityKey))
        return try bench.journal.newest(key)
    }
}
