internal import Holdfast

extension SharedJournalConformance {
    static let fencing: [Rule] = [
        Rule("What a former owner accepts behind a takeover is refused, and is nowhere") { bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let uids = try former.append(1...2, lane: lane)
            let next = try bench.take(by: 1)
            try bench.expectLoss(of: former, "an append") { try former.append(3...5, lane: lane) }
            try expect("what waits", try next.uids(lane), is: uids)
            try expect("what was accepted", try next.journal.status().totals.accepted, is: 2)
        },
        Rule("What a former owner settles behind a takeover still waits for the new one") { bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let uids = try former.append(1...3, lane: lane)
            let next = try bench.take(by: 1)
            try bench.expectLoss(of: former, "a settlement") {
                try former.acknowledge([uids[0]], lane, keepsOutcomes: true)
            }
            try bench.expectLoss(of: former, "a rejection") { try former.settle([uids[1]], lane, .reject(sampleCause)) }
            try expect("what waits", try next.uids(lane), is: uids)
            try expect("outcomes", try next.endedUIDs(), is: [])
            try next.acknowledge(uids, lane, keepsOutcomes: true)
            try expect("outcomes of the new owner", try next.endedUIDs(), is: uids)
        },
        Rule("A former owner's mark does not rise, and it is told of none") { bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let uids = try former.append(1...9, lane: lane)
            former.journal.raiseMark(of: lane, to: uids[2])
            _ = try former.report("the mark") { $0.lanes.first { $0.id == lane && $0.mark == uids[2] } }
            let next = try bench.take(by: 1)
            let found = try next.journal.openLane(JournalBench.immediate).markAtOpen
            former.journal.raiseMark(of: lane, to: uids[7])
            _ = try former.report("the loss of the journal") { $0.failure?.code == .ownershipLost ? true : nil }
            try bench.expectLoss(of: former, "an append") { try former.append([10], lane: lane) }
            try expect("the mark that was found", found, is: uids[2])
            try expect("the mark", try next.mark(), is: uids[2])
            try expect("the greatest mark that was reported", former.reportedMarks(lane).max(), is: uids[2])
        },
        Rule("A former owner changes nothing else: lanes, their states, Producers, readers and notes") { bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            try former.journal.setNote("note", to: [1])
            let next = try bench.take(by: 1)
            let journal = former.journal
            try bench.expectLoss(of: former, "a note") { try journal.setNote("note", to: [2]) }
            try bench.expectLoss(of: former, "a new lane") { _ = try former.lane(JournalBench.considerate) }
            try bench.expectLoss(of: former, "a lane's state") {
                try former.setState(of: lane, to: .paused(reason: "", since: JournalBench.now))
            }
            try bench.expectLoss(of: former, "a new Producer") { _ = try former.producer("new") }
            try bench.expectLoss(of: former, "a reader") { _ = try journal.openReader("hook", isWaitedFor: false) }
            try expect("the note", try next.journal.note("note"), is: [1])
            try expect("lanes", try next.journal.status().lanes.map(\.key), is: [JournalBench.immediate])
            try expect("the lane's state", try next.journal.openLane(JournalBench.immediate).state, is: .running)
            try expect("Producers", try next.journal.producers().map(\.name), is: [])
            try expect("readers", next.journal.outcomeReaders, is: [])
        },
        Rule("A second takeover shuts both former owners out") { bench in
            let owners = [try bench.take(by: 0), try bench.take(by: 1)]
            let lane = try owners[1].lane()
            let uids = try owners[1].append([1], lane: lane)
            let third = try bench.take(by: 2)
            for owner in owners {
                try bench.expectLoss(of: owner, "an append") { try owner.append([2], lane: owner.lane()) }
            }
            let more = try third.append([3], lane: lane)
            try expect("what waits", try third.uids(lane), is: uids + more)
        },
        Rule("The loss is final, also when the new owner has left the journal") { bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let next = try bench.take(by: 1)
            let uids = try next.append([1], lane: lane)
            try bench.expectLoss(of: former, "an append") { try former.append([2], lane: lane) }
            try bench.leave(by: 1)
            for _ in 1...3 {
                try bench.expectLoss(of: former, "an append later") { try former.append([2], lane: lane) }
            }
            try bench.leave(by: 0)
            try expect("what waits", try bench.take(by: 2).uids(lane), is: uids)
        },
        Rule("Who was told of the loss hands nothing out any more, and the new owner does") { bench in
            func mayHandOut(_ owner: JournalBench) -> Bool {
                owner.journal.handOutUntil.map { bench.store.now() < $0 } ?? true
            }
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            try expect("whether the owner hands out", mayHandOut(former), is: true)
            let next = try bench.take(by: 1)
            try bench.expectLoss(of: former, "an append") { try former.append([1], lane: lane) }
            try expect("whether the former owner hands out", mayHandOut(former), is: false)
            try expect("whether the new owner hands out", mayHandOut(next), is: true)
        },
    ]

    static let doubts: [Rule] = [
        Rule("A commit that arrived unanswered before a takeover is with the new owner, and is not told as refused") {
            bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let uids = try former.append([1], lane: lane)
            let submission = try former.submission([2], lane: lane)
            bench.store.cut(0, arrives: true)
            let journal = former.journal
            let pending = Pending<Appended>(former) { journal.append(submission, completion: $0) }
            let next = try bench.take(by: 1)
            bench.store.mend(0)
            let result = try pending.result(of: "the append in doubt")
            let found = try next.uids(lane)
            try expect("what waits", found, is: uids + [UID(uids[0].rawValue + 1)])
            switch result {
            // Its answer was lost, and it may have been told in another way that it is there.
            case .success(let appended): try expect("its UID", appended.first, is: found[1])
            case .failure(let error): try expect("the code of the error", error.code, is: .undetermined)
            }
            let more = try next.append([3], lane: lane)
            try expect("what waits at last", try next.uids(lane), is: found + more)
        },
        Rule("A commit that did not arrive before a takeover is not with the new owner, and is not told as accepted") {
            bench in
            let former = try bench.take(by: 0)
            let lane = try former.lane()
            let uids = try former.append([1], lane: lane)
            let submission = try former.submission([2], lane: lane)
            bench.store.cut(0, arrives: false)
            let journal = former.journal
            let pending = Pending<Appended>(former) { journal.append(submission, completion: $0) }
            let next = try bench.take(by: 1)
            bench.store.mend(0)
            if case .success = try pending.result(of: "the append that did not arrive") {
                throw Deviation("the append that did not arrive", expected: "an error", found: "a UID")
            }
            try expect("what waits", try next.uids(lane), is: uids)
        },
    ]
}
