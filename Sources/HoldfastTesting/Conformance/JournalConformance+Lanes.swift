internal import Holdfast

extension JournalConformance {
    static let lanes: [Rule] = [
        Rule("A lane has one number, for good") { bench in
            let keys = [JournalBench.immediate, JournalBench.considerate, JournalBench.once]
            let ids = try keys.map { try bench.journal.openLane($0).id }
            try expect("numbers of three lanes", Set(ids).count, is: 3)
            try expect("numbers when opened again", keys.map { try bench.journal.openLane($0).id }, is: ids)
            try bench.reopen()
            let reversed = try keys.reversed().map { try bench.journal.openLane($0).id }
            try expect("numbers after reopening, in another order", reversed, is: ids.reversed())
        },
        Rule("A lane is opened with its mark and its last UID as they are then") { bench in
            let new = try bench.journal.openLane(JournalBench.immediate)
            try expect("the mark of a new lane", new.markAtOpen, is: .none)
            try expect("the last UID of a new lane", new.lastUID, is: .none)
            let uids = try bench.append(1...5, lane: new.id)
            bench.journal.raiseMark(of: new.id, to: uids[2])
            _ = try bench.report("the raised mark") { $0.lanes.first { $0.mark == uids[2] } }
            try bench.acknowledge([uids[4]], new.id)
            let expected = LaneOpening(id: new.id, markAtOpen: uids[2], lastUID: uids[4])
            try expect("the lane opened again", try bench.journal.openLane(JournalBench.immediate), is: expected)
            try bench.reopen()
            try expect("the lane after reopening", try bench.journal.openLane(JournalBench.immediate), is: expected)
        },
        Rule("Lanes do not see each other's entries") { bench in
            let (one, two) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            var submission = try bench.submission([1, 2, 3, 4], lane: one)
            submission.items = submission.items.enumerated().map { index, item in
                Submission.Item(lane: index.isMultiple(of: 2) ? one : two, range: item.range)
            }
            let first = try bench.append(submission).first.rawValue
            try expect("entries of the one", try bench.uids(one), is: [UID(first), UID(first + 2)])
            try expect("entries of the other", try bench.uids(two), is: [UID(first + 1), UID(first + 3)])
            try expect("depths", [bench.journal.depth(one), bench.journal.depth(two)], is: [2, 2])
        },
        Rule("A note is there until it is removed, over a reopening too") { bench in
            try expect("a note nobody left", try bench.journal.note("a"), is: nil)
            try bench.journal.setNote("a", to: [1, 2])
            try bench.journal.setNote("b", to: [])
            try bench.journal.setNote("a", to: [3])
            try expect("the note", try bench.journal.note("a"), is: [3])
            try bench.reopen()
            try expect("the note after reopening", try bench.journal.note("a"), is: [3])
            try expect("an empty note", try bench.journal.note("b"), is: [])
            try bench.journal.setNote("a", to: nil)
            try expect("the removed note", try bench.journal.note("a"), is: nil)
        },
        Rule("The wall time at opening is that of the last commit before it, not the greatest") { bench in
            try expect("that of a new journal", bench.journal.wallTimeAtOpen, is: nil)
            let lane = try bench.lane()
            let uids = try bench.append([1], lane: lane, acceptedAt: WallTime(milliseconds: 9000))
            try expect("that of a new journal, after a commit", bench.journal.wallTimeAtOpen, is: nil)
            try bench.reopen()
            try expect("after an append", bench.journal.wallTimeAtOpen, is: WallTime(milliseconds: 9000))
            try bench.append([2], lane: lane, acceptedAt: WallTime(milliseconds: 8000))
            try bench.acknowledge(uids, lane, settledAt: WallTime(milliseconds: 7000))
            try bench.reopen()
            try expect("after a settlement", bench.journal.wallTimeAtOpen, is: WallTime(milliseconds: 7000))
            var timeless = try bench.submission([3], lane: lane, acceptedAt: WallTime(milliseconds: 9000))
            timeless.earliestTime = nil
            _ = try bench.append(timeless)
            try bench.settle(SettlementBatch(settledAt: WallTime(milliseconds: 9000)))
            try bench.reopen()
            try expect(
                "after commits that say nothing of it", bench.journal.wallTimeAtOpen, is: WallTime(milliseconds: 7000))
            _ = try bench.trim(TrimBounds(earliestTime: WallTime(milliseconds: 6000)))
            try bench.reopen()
            try expect(
                "after a trim that deletes nothing", bench.journal.wallTimeAtOpen, is: WallTime(milliseconds: 6000))
        },
    ]
}
