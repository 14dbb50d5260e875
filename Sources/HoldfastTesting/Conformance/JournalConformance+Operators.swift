internal import Holdfast

extension JournalConformance {
    static let operators: [Rule] = [
        Rule("A lane's state is there until it is changed, over a reopening too") { bench in
            let lane = try bench.journal.openLane(JournalBench.immediate)
            try expect("the state of a new lane", lane.state, is: .running)
            let paused = LaneState.paused(reason: "certificate", since: WallTime(milliseconds: 1_700_000_000_123))
            try bench.setState(of: lane.id, to: paused)
            try expect("the state", try bench.journal.openLane(JournalBench.immediate).state, is: paused)
            try bench.reopen()
            try expect(
                "the state after reopening", try bench.journal.openLane(JournalBench.immediate).state, is: paused)
            try expect("in the status", try bench.journal.status().lanes.first?.state, is: paused)
            let stopped = LaneState.stopped(reason: "", since: WallTime(milliseconds: 5))
            try bench.setState(of: lane.id, to: stopped)
            try bench.reopen()
            try expect("the next", try bench.journal.openLane(JournalBench.immediate).state, is: stopped)
            try bench.setState(of: lane.id, to: .running)
            try bench.reopen()
            try expect("the last", try bench.journal.openLane(JournalBench.immediate).state, is: .running)
        },
        Rule("A lane that was never opened has no state") { bench in
            try bench.expectError(.notFound, "the state of lane 99") {
                try bench.setState(of: LaneID(rawValue: 99), to: .running)
            }
        },
        Rule("What is withdrawn is gone, as withdrawn; what may have been sent by its record, as unknown") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...4, lane: lane)
            _ = try bench.deferEntries([uids[1]], lane, until: 5)
            _ = try bench.deferEntries([uids[2]], lane, until: 5, possiblySent: true)
            let report = try bench.settle(uids + [UID(99)], lane, .withdraw, keepsOutcomes: true)
            try expect("the report", report, is: SettlementReport(settled: 4, gone: 1, withdrawn: 3))
            let outcomes = try bench.journal.outcomes(after: .start, limit: 10).outcomes
            try expect(
                "outcomes", outcomes.map(\.terminal), is: [.withdrawn, .withdrawn, .unknown, .withdrawn])
            let totals = try bench.journal.status().totals
            try expect("withdrawn, unknown", [totals.withdrawn, totals.unknown], is: [3, 1])
            try expect("the depth", bench.journal.depth(lane), is: 0)
        },
        Rule("A retry takes the rejection's place, once, and says what it is") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            try bench.settle(uids, lane, .reject(sampleCause))
            var bytes: [UInt8] = []
            var items: [Submission.Item] = []
            for uid in [uids[0], UID(99), uids[2]] {
                let start = bytes.count
                PackedNotification.append(
                    SampleNotification.numbered(Int(uid.rawValue)), id: SampleNotification.id(1),
                    expiration: SampleNotification.expiration, acceptedAt: SampleNotification.acceptedAt,
                    producer: "", retryOf: uid, to: &bytes)
                items.append(Submission.Item(lane: lane, range: start..<bytes.count))
            }
            let submission = Submission(
                producer: try bench.producer(), acceptedAt: JournalBench.now, bytes: bytes, items: items,
                retries: [(0, uids[0]), (1, UID(99)), (2, uids[2])])
            let appended = try bench.append(submission)
            try expect("what was appended", appended, is: Appended(first: UID(4), gone: [1]))
            let batch = try bench.journal.unconfirmed(lane, after: .none, through: .max, limit: 10)
            try expect("the entries", batch.items.map(\.uid), is: [UID(4), UID(5)])
            let links = try batch.items.indices.map { try batch.fields(at: $0).retryOf }
            try expect("what they retry", links, is: [uids[0], uids[2]])
            try expect(
                "what is left", try bench.journal.rejections(after: .none, limit: 10).map(\.uid), is: [uids[1]])
            let again = try bench.append(submission)
            try expect("the same once more", again.gone, is: [0, 1, 2])
        },
        Rule("A restored entry lies where it lay, with its attempts and what may have been sent") { bench in
            let lane = try bench.lane()
            let mails = try bench.producer("mails")
            var submission = try bench.submission([1, 2, 3], lane: lane)
            submission.histories = [
                (0, EntryHistory(attempts: 3, isPossiblySent: true, producer: mails)),
                (1, EntryHistory(place: .deferred(until: WallTime(milliseconds: 50)), attempts: 7)),
                (2, EntryHistory(place: .rejected(sampleCause), attempts: 2, producer: mails)),
            ]
            try expect("the first", try bench.append(submission).first, is: UID(1))
            try bench.reopen()
            let batch = try bench.journal.unconfirmed(lane, after: .none, through: .max, limit: 10)
            try expect("waiting", batch.items.map(\.uid), is: [UID(1)])
            try expect("its attempts", batch.items.first?.attempts, is: 3)
            try expect("whether it may have been sent", batch.items.first?.isPossiblySent, is: true)
            try expect("due", try bench.journal.nextDue(lane), is: WallTime(milliseconds: 50))
            let rejection = try bench.journal.rejections(after: .none, limit: 10)
            try expect("rejected", rejection.map(\.uid), is: [UID(3)])
            try expect("with its cause", rejection.first?.cause, is: sampleCause)
            try expect("with its attempts", rejection.first?.attempts, is: 2)
            try expect("with its Producer", rejection.first?.producer, is: "mails")
            try expect("the backlog of its Producer", bench.journal.backlog(of: mails), is: 1)
            try expect("the depth", bench.journal.depth(lane), is: 2)
            try expect("promoted", try bench.promote(lane, now: 50), is: [UID(2)])
        },
        Rule("A removed rejection is gone, and one that never was is passed over") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            try bench.settle(uids, lane, .reject(sampleCause))
            try expect("how many", try bench.journal.removeRejections([uids[0], UID(77), uids[2]]), is: 2)
            try bench.reopen()
            try expect(
                "what is left", try bench.journal.rejections(after: .none, limit: 10).map(\.uid), is: [uids[1]])
        },
    ]
}
