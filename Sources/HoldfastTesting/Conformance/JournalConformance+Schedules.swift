internal import Holdfast

extension JournalConformance {
    static let schedules: [Rule] = [
        Rule("A scheduled entry is unconfirmed, is not read, and does not come back with those that are due") { bench in
            let lane = try bench.lane()
            var submission = try bench.submission(1...4, lane: lane)
            submission.schedules = [(1, at(2000)), (3, at(1000))]
            try expect("the first UID", try bench.append(submission).first, is: UID(1))
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                let lane = try bench.lane()
                try expect("entries", try bench.uids(lane), is: [UID(1), UID(3)])
                try expect("the depth", bench.journal.depth(lane), is: 4)
                try expect("scheduled entries", bench.journal.scheduledCount, is: 2)
                let status = try bench.journal.status()
                try expect(
                    "unconfirmed, deferred, scheduled", [status.unconfirmed, status.deferred, status.scheduled],
                    is: [4, 0, 2])
                try expect("those of the lane", [status.lanes[0].deferred, status.lanes[0].scheduled], is: [0, 2])
                let fate = EntryFate.scheduled(JournalBench.immediate, for: at(2000), attempts: 0)
                try expect("the fate", try bench.journal.fate(of: UID(2)), is: fate)
                try expect("brought back as due", try bench.promote(lane, now: 1 << 60), is: [])
                try expect(
                    "the next", try bench.journal.nextDue(lane, after: ScheduledPlace.last),
                    is: ScheduledPlace.due(for: at(1000)))
            }
            let again = try bench.lane()
            try expect("before their time", try promote(bench, again, through: 999), is: [])
            try expect("one of two", try promote(bench, again, through: 3000, limit: 1), is: [UID(4)])
            try expect("the other", try promote(bench, again, through: 3000), is: [UID(2)])
            try expect("none left", try bench.journal.nextDue(again, after: ScheduledPlace.last), is: nil)
            try expect("scheduled entries at the end", bench.journal.scheduledCount, is: 0)
            try expect("entries at the end", try bench.uids(again), is: (1...4).map { UID($0) })
        },
        Rule("Deferred entries come before scheduled ones, and each kind is counted by itself") { bench in
            let lane = try bench.lane()
            var submission = try bench.submission(1...3, lane: lane)
            submission.schedules = [(0, at(10))]
            _ = try bench.append(submission)
            _ = try bench.deferEntries([UID(2)], lane, until: 500)
            try expect("the next due", try bench.journal.nextDue(lane), is: at(500))
            let scheduled = Settlement.Kind.deferUntil(
                ScheduledPlace.due(for: at(20)), attempts: 2, reason: .scheduled, possiblySent: false)
            try expect("put off again", try bench.settle([UID(3)], lane, scheduled).settled, is: 1)
            let status = try bench.journal.status()
            try expect("deferred, scheduled", [status.deferred, status.scheduled], is: [1, 2])
            let fate = EntryFate.scheduled(JournalBench.immediate, for: at(20), attempts: 2)
            try expect("the fate", try bench.journal.fate(of: UID(3)), is: fate)
            try expect("withdrawn", try bench.settle([UID(1)], lane, .withdraw).withdrawn, is: 1)
            try expect("scheduled entries", bench.journal.scheduledCount, is: 1)
            try expect("due", try bench.promote(lane, now: 600), is: [UID(2)])
            try expect("scheduled", try promote(bench, lane, through: 20), is: [UID(3)])
        },
        Rule("Repeats among scheduled notifications are recognised, and the others keep their times") { bench in
            let lane = try bench.lane()
            _ = try bench.append([2], lane: lane, identities: true)
            var submission = try bench.submission(1...3, lane: lane, identities: true)
            submission.schedules = [(1, at(30)), (2, at(40))]
            let appended = try bench.append(submission)
            try expect("repeats", appended.repeats.map(\.index), is: [1])
            try expect("scheduled entries", bench.journal.scheduledCount, is: 1)
            let fate = EntryFate.scheduled(JournalBench.immediate, for: at(40), attempts: 0)
            try expect("the fate of the third", try bench.journal.fate(of: UID(3)), is: fate)
            try expect("entries", try bench.uids(lane), is: [UID(1), UID(2)])
        },
        Rule("The commit that schedules an entry is reported as such, and so are those of its lane after it") { bench in
            let (lane, other) = (try bench.lane(), try bench.lane(JournalBench.once))
            _ = try bench.append([1], lane: lane)
            var submission = try bench.submission([2], lane: lane)
            submission.schedules = [(0, at(5))]
            _ = try bench.append(submission)
            _ = try bench.append([3], lane: other)
            let isReported = try bench.report("of the scheduled entry") { report in
                report.lanes.first { $0.id == lane && $0.lastUID == UID(2) }?.hasSchedules
            }
            try expect("that it is scheduled", isReported, is: true)
            let isOthers = try bench.report("of the other lane") { report in
                report.lanes.first { $0.id == other && $0.lastUID == UID(3) }?.hasSchedules
            }
            try expect("that nothing is scheduled in the other lane", isOthers, is: false)
        },
    ]

    private static func at(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

    private static func promote(
        _ bench: JournalBench, _ lane: LaneID, through time: Int64, limit: Int = 1000
    ) throws -> [UID] {
        try bench.promote(
            lane, after: ScheduledPlace.last.milliseconds, now: ScheduledPlace.due(for: at(time)).milliseconds,
            limit: limit)
    }
}
