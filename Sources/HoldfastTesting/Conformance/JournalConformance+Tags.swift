internal import Holdfast

extension JournalConformance {
    static let tags: [Rule] = [
        Rule("Entries in the places of paused tags are deferred, come back by their place, and are counted") { bench in
            let (first, second) = (TagPlace.due(for: 1), TagPlace.due(for: 2))
            let lane = try bench.lane()
            _ = try bench.append(1...6, lane: lane)
            try expect("put aside", try hold(bench, [1, 2, 4], lane, at: first), is: 3)
            try expect("put aside", try hold(bench, [3], lane, at: second), is: 1)
            _ = try bench.deferEntries([UID(5)], lane, until: 500)
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                let (lane, other) = (try bench.lane(), try bench.lane(JournalBench.once))
                try expect("entries", try bench.uids(lane), is: [UID(6)])
                try expect("held", [bench.journal.heldByTagCount, bench.journal.heldCount(lane)], is: [4, 4])
                try expect("held in another lane", bench.journal.heldCount(other), is: 0)
                try expect("in the first place", try bench.journal.deferredCount(lane, dueAt: first), is: 3)
                try expect("in the second", try bench.journal.deferredCount(lane, dueAt: second), is: 1)
                try expect("in a third", try bench.journal.deferredCount(lane, dueAt: TagPlace.due(for: 3)), is: 0)
                let status = try bench.journal.status()
                try expect(
                    "deferred, scheduled, held", [status.deferred, status.scheduled, status.heldByTag], is: [5, 0, 4])
                try expect("that of the lane", status.lanes.first { $0.id == lane }?.heldByTag, is: 4)
                try expect("due", try bench.journal.nextDue(lane), is: WallTime(milliseconds: 500))
                let fate = EntryFate.deferred(JournalBench.immediate, until: first, attempts: 0, reason: .tagPaused)
                try expect("the fate", try bench.journal.fate(of: UID(4)), is: fate)
            }
            let again = try bench.lane()
            try expect("brought back", try promote(bench, again, first, limit: 2), is: [UID(1), UID(2)])
            try expect("taken back", try bench.settle([UID(4)], again, .withdraw).withdrawn, is: 1)
            try expect("held", bench.journal.heldCount(again), is: 1)
            try expect("none left there", try promote(bench, again, first), is: [])
            try expect("of the other", try promote(bench, again, second), is: [UID(3)])
            try expect("held at the end", [bench.journal.heldByTagCount, bench.journal.heldCount(again)], is: [0, 0])
            try expect("the depth", bench.journal.depth(again), is: 5)
        },
        Rule("What may have been sent, and waits in the place of a paused tag, still may have been when it is back") {
            bench in
            let lane = try bench.lane()
            _ = try bench.append(1...1, lane: lane)
            try expect("put aside", try hold(bench, [1], lane, at: TagPlace.due(for: 7), possiblySent: true), is: 1)
            try bench.reopen()
            let again = try bench.lane()
            try expect("brought back", try promote(bench, again, TagPlace.due(for: 7)), is: [UID(1)])
            let batch = try bench.journal.unconfirmed(again, uids: [UID(1)])
            try expect("that it may have been sent", batch.items.map(\.isPossiblySent), is: [true])
        },
    ]

    private static func hold(
        _ bench: JournalBench, _ uids: [UInt64], _ lane: LaneID, at place: WallTime, possiblySent: Bool = false
    ) throws -> Int {
        try bench.settle(
            uids.map { UID($0) }, lane,
            .deferUntil(place, attempts: 0, reason: .tagPaused, possiblySent: possiblySent)
        ).settled
    }

    private static func promote(
        _ bench: JournalBench, _ lane: LaneID, _ place: WallTime, limit: Int = 1000
    ) throws -> [UID] {
        try bench.promote(lane, after: place.milliseconds - 1, now: place.milliseconds, limit: limit)
    }
}
