internal import Holdfast

extension SharedJournalConformance {
    static let finding: [Rule] = [
        Rule("Whoever takes a journal finds all that its former owner had accepted, and what has become of it") {
            bench in
            let former = try bench.take(by: 0)
            let (lane, once) = (try former.lane(), try former.lane(JournalBench.once))
            let uids = try former.append(1...6, lane: lane, identities: true)
            let other = try former.append([7], lane: once)
            try former.acknowledge([uids[0]], lane, keepsOutcomes: true)
            try former.settle([uids[1]], lane, .reject(sampleCause))
            _ = try former.deferEntries([uids[2]], lane, until: 10)
            let paused = LaneState.paused(reason: "certificate", since: JournalBench.now)
            try former.setState(of: once, to: paused)
            try former.journal.setNote("note", to: [1, 2, 3])
            _ = try former.journal.openReader("hook", isWaitedFor: true)
            let producers = try former.journal.producers()

            let next = try bench.take(by: 1)
            try expect("number of the lane", try next.lane(), is: lane)
            try expect("what waits", try next.uids(lane), is: Array(uids[3...]))
            let first = try next.journal.unconfirmed(lane, uids: [uids[3]])
            try expect("a notification", try first.notification(at: 0), is: SampleNotification.numbered(4))
            try expect("the other lane", try next.uids(once), is: other)
            try expect("its state", try next.journal.openLane(JournalBench.once).state, is: paused)
            try expect("the outcome", try next.endedUIDs(), is: [uids[0]])
            try expect("the rejection", try next.journal.rejections(after: .none, limit: 9).map(\.uid), is: [uids[1]])
            try expect("what is due", try next.promote(lane, now: 10), is: [uids[2]])
            try expect("the note", try next.journal.note("note"), is: [1, 2, 3])
            try expect("the readers", next.journal.outcomeReaders.map(\.name), is: ["hook"])
            try expect("the Producers", try next.journal.producers(), is: producers)
            try expect("the key of identities", next.journal.identityKey, is: former.journal.identityKey)
            let repeated = try next.append(next.submission([4], lane: lane, identities: true))
            try expect("a repeat", repeated.repeats.map(\.index), is: [0])
        },
        Rule("What may have been sent is told as possibly sent, and nothing else") { bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let uids = try former.append(1...10, lane: lane)
            former.journal.raiseMark(of: lane, to: uids[5])
            _ = try former.report("the mark") { $0.lanes.first { $0.id == lane && $0.mark == uids[5] } }
            _ = try former.deferEntries([uids[0]], lane, until: 10, possiblySent: true)
            _ = try former.deferEntries([uids[1], uids[8]], lane, until: 10)
            try former.acknowledge([uids[2]], lane)

            let next = try bench.take(by: 1)
            try expect("the mark", try next.journal.openLane(JournalBench.immediate).markAtOpen, is: uids[5])
            // Three below the mark, and the one of which its record says so.
            try expect("possibly sent", try next.journal.status().possiblySent, is: 4)
            try expect("the mark, which nobody raises", try next.mark(), is: uids[5])
        },
        Rule("A mark that was set back is back for whoever takes the journal") { bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let uids = try former.append(1...5, lane: lane)
            former.journal.raiseMark(of: lane, to: uids[4])
            _ = try former.report("the mark") { $0.lanes.first { $0.id == lane && $0.mark == uids[4] } }
            try former.lowerMark(lane, to: uids[1])
            let next = try bench.take(by: 1)
            try expect("the mark", try next.journal.openLane(JournalBench.immediate).markAtOpen, is: uids[1])
        },
        Rule("UIDs go on behind the former owner's, and none is given twice by any of them") { bench in
            var all: [UID] = []
            var former: (bench: JournalBench, lane: LaneID)?
            for host in 0...2 {
                let owner = try bench.take(by: host)
                let lane = try owner.lane()
                if let former {
                    try bench.expectLoss(of: former.bench, "a former owner's append") {
                        try former.bench.append(1...5, lane: former.lane)
                    }
                }
                all += try owner.append(1...3, lane: lane)
                former = (owner, lane)
            }
            try expect("UIDs in the order in which they were given", all, is: Set(all).sorted())
            guard let owner = former else { return }
            try expect("what waits", try owner.bench.uids(owner.lane), is: all)
        },
        Rule("A host that takes its journal back finds what the other one has left, and goes on") { bench in
            let first = try bench.take(by: 0)
            let lane = try first.lane()
            let uids = try first.append(1...4, lane: lane)
            let other = try bench.take(by: 1)
            try other.acknowledge([uids[0], uids[2]], lane)
            let more = try other.append([5], lane: lane)
            try bench.expectLoss(of: first, "a former owner's append") { try first.append([9], lane: lane) }
            try bench.leave(by: 0)

            let again = try bench.take(by: 0)
            try expect("what waits", try again.uids(lane), is: [uids[1], uids[3]] + more)
            try bench.expectLoss(of: other, "the other's append") { try other.append([9], lane: lane) }
            let last = try again.append([6], lane: lane)
            try again.acknowledge([uids[1]], lane)
            try expect("what waits at last", try again.uids(lane), is: [uids[3]] + more + last)
        },
    ]
}
