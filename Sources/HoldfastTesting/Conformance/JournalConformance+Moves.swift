internal import Holdfast
internal import HoldfastAPNsAnswers

extension JournalConformance {
    private static let due = WallTime(milliseconds: 100)

    private static func move(to lane: LaneID, possiblySent: Bool = false) -> Settlement.Kind {
        .move(to: lane, due: due, reason: .badDeviceToken, possiblySent: possiblySent)
    }

    /// Of entries that go from the lane of one environment to that of the other.
    static let moves: [Rule] = [
        Rule("A moved entry is deferred in its new lane and nowhere else, as the same entry, over a reopening too") {
            bench in
            let (old, new) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            let uids = try bench.append(1...3, lane: old)
            _ = try bench.deferEntries([uids[1]], old, until: 10, attempts: 4)
            _ = try bench.promote(old, now: 10)
            let report = try bench.settle([uids[1]], old, move(to: new))
            try expect("the report", report, is: SettlementReport(settled: 1, gone: 0))
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                try expect("entries of the old lane", try bench.uids(old), is: [uids[0], uids[2]])
                try expect("entries of the new lane", try bench.uids(new), is: [])
                try expect("due in the old lane", try bench.journal.nextDue(old), is: nil)
                try expect("due in the new lane", try bench.journal.nextDue(new), is: due)
                try expect("depths", [bench.journal.depth(old), bench.journal.depth(new)], is: [2, 1])
                try expect(
                    "its fate", try bench.journal.fate(of: uids[1]),
                    is: .deferred(JournalBench.considerate, until: due, attempts: 4, reason: .badDeviceToken))
            }
            try expect("brought back", try bench.promote(new, now: 100), is: [uids[1]])
            let batch = try bench.journal.unconfirmed(new, uids: [uids[1]])
            try expect("attempts", batch.items.map(\.attempts), is: [4])
            try expect("whether it was moved", batch.items.map(\.isMoved), is: [true])
            try expect("whether it may have been sent", batch.items.map(\.isPossiblySent), is: [false])
            let others = try bench.journal.unconfirmed(old, after: .none, through: .max, limit: 10)
            try expect("whether the others were moved", others.items.map(\.isMoved), is: [false, false])
            try bench.acknowledge([uids[1]], new)
            try expect("confirmed", try bench.journal.status().totals.confirmed, is: 1)
        },
        Rule("That an entry was moved stays known when it is deferred again, and when it is rejected") { bench in
            let (old, new) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            let uids = try bench.append(1...2, lane: old, identities: true)
            try bench.settle(uids, old, move(to: new))
            _ = try bench.promote(new, now: 100)
            _ = try bench.deferEntries([uids[0]], new, until: 200)
            try bench.reopen()
            _ = try bench.promote(new, now: 200)
            let batch = try bench.journal.unconfirmed(new, uids: uids)
            try expect("whether they were moved", batch.items.map(\.isMoved), is: [true, true])
            try bench.settle([uids[0]], new, .reject(sampleCause))
            let rejections = try bench.journal.rejections(after: .none, limit: 10)
            try expect("the lane of the rejection", rejections.map(\.lane), is: [JournalBench.considerate])
        },
        Rule("That an attempt before a move may have been taken stays known") { bench in
            let (old, new) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            let uids = try bench.append(1...3, lane: old)
            _ = try bench.deferEntries([uids[2]], old, until: 10, possiblySent: true)
            _ = try bench.promote(old, now: 10)
            for (index, possiblySent) in [false, true, false].enumerated() {
                try bench.settle([uids[index]], old, move(to: new, possiblySent: possiblySent))
            }
            try bench.reopen()
            _ = try bench.promote(new, now: 100)
            let batch = try bench.journal.unconfirmed(new, uids: uids)
            try expect("which may have been sent", batch.items.map(\.isPossiblySent), is: [false, true, true])
            try expect("which were moved", batch.items.map(\.isMoved), is: [true, true, true])
        },
        Rule("A move leaves no outcome, and the end in the new lane leaves one") { bench in
            let (old, new) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            let uids = try bench.append(1...1, lane: old)
            try bench.settle(uids, old, move(to: new), keepsOutcomes: true)
            try expect("outcomes of the move", bench.journal.outcomeCount, is: 0)
            _ = try bench.promote(new, now: 100)
            try bench.acknowledge(uids, new, keepsOutcomes: true)
            try expect("outcomes of the end", try bench.endedUIDs(after: .start, limit: 10), is: uids)
        },
        Rule("Only an entry that waits can be moved, and only to another lane that there is") { bench in
            let (old, new) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            let uids = try bench.append(1...3, lane: old)
            try bench.acknowledge([uids[0]], old)
            _ = try bench.deferEntries([uids[1]], old, until: 50)
            let missing = LaneID(rawValue: 4000)
            let toNew = move(to: new)
            for (uids, kind) in [
                ([uids[0], uids[1]], toNew), ([uids[2]], move(to: missing)), ([uids[2]], move(to: old)),
            ] {
                let report = try bench.settle(uids, old, kind)
                try expect("the report", report, is: SettlementReport(settled: 0, gone: uids.count))
            }
            try expect("entries", try bench.uids(old), is: [uids[2]])
            try expect("deferred", try bench.journal.nextDue(old), is: WallTime(milliseconds: 50))
            let first = try bench.settle([uids[2]], old, toNew)
            try expect("a move", first, is: SettlementReport(settled: 1, gone: 0))
            let second = try bench.settle([uids[2]], old, toNew)
            try expect("a second one", second, is: SettlementReport(settled: 0, gone: 1))
            let late = try bench.acknowledge([uids[2]], old)
            try expect("a late answer of the old lane", late, is: SettlementReport(settled: 0, gone: 1))
        },
        Rule("A moved entry is not taken for sent below its new lane's mark, and its new lane reaches to it") { bench in
            let (old, new) = (try bench.lane(), try bench.lane(JournalBench.considerate))
            let uids = try bench.append(1...2, lane: old)
            let others = try bench.append(3...4, lane: new)
            bench.journal.raiseMark(of: new, to: others[1])
            _ = try bench.report("the raised mark") { $0.lanes.first { $0.mark == others[1] } }
            try bench.acknowledge(others, new)
            try bench.settle([uids[0]], old, move(to: new))
            try expect("possibly sent", try bench.journal.status().possiblySent, is: 0)
            let last = try bench.append([5], lane: old)
            try bench.settle(last, old, move(to: new))
            try bench.reopen()
            let opening = try bench.journal.openLane(JournalBench.considerate)
            try expect("the last UID of the new lane", opening.lastUID, is: last[0])
            try expect("its mark", opening.markAtOpen, is: others[1])
            try expect("possibly sent after reopening", try bench.journal.status().possiblySent, is: 0)
        },
    ]
}
