internal import Holdfast

/// What silence has confirmed is kept aside.
extension JournalConformance {
    static let quieted: [Rule] = [
        Rule("What silence has confirmed is neither unconfirmed nor over, also after reopening") { bench in
            let lane = try bench.lane()
            let producer = try bench.producer()
            let uids = try bench.append(1...4, lane: lane, identities: true)
            let report = try bench.quiet(Array(uids.prefix(3)), lane, at: 10)
            try expect("the report", report, is: SettlementReport(settled: 3))
            try expect("the report of a second time", try bench.quiet([uids[0]], lane, at: 11).gone, is: 1)
            for isAgain in [false, true] {
                if isAgain { try bench.reopen() }
                try expect("those that wait", try bench.uids(lane), is: [uids[3]])
                try expect("the depth", bench.journal.depth(lane), is: 1)
                try expect("the backlog", bench.journal.backlog(of: producer), is: 1)
                try expect("outcomes", bench.journal.outcomeCount, is: 0)
                let status = try bench.journal.status()
                try expect("those aside", status.aside, is: 3)
                try expect("those confirmed", status.totals.confirmed, is: 0)
                let fate = EntryFate.aside(JournalBench.immediate, since: WallTime(milliseconds: 10))
                try expect("the fate of one", try bench.journal.fate(of: uids[0]), is: fate)
            }
            let again = try bench.append(try bench.submission(1...1, lane: lane, identities: true))
            try expect("a repeat of one", again.repeats.map(\.uid), is: [uids[0]])
            try expect("its outcome", again.repeats.map(\.outcome), is: [nil])
        },
        Rule("The last of a Producer's entries that goes aside is reported as its last") { bench in
            let lane = try bench.lane()
            let producer = try bench.producer()
            let uids = try bench.append(1...2, lane: lane)
            try bench.quiet(uids, lane, at: 10)
            let _: Bool = try bench.report("the drained Producer") { $0.drained.contains(producer) ? true : nil }
        },
        Rule("What is aside is confirmed when its time is over: its outcome, its totals, its identity") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane, identities: true)
            try bench.quiet([uids[2]], lane, at: 20)
            try bench.quiet([uids[0], uids[1]], lane, at: 30)
            try expect("those before 20", try bench.confirmAside(before: 20), is: 0)
            try expect("those before 21", try bench.confirmAside(before: 21), is: 1)
            let first = try bench.journal.outcomes(after: .start, limit: 10).outcomes
            try expect("the first outcomes", first.map(\.uid), is: [uids[2]])
            try expect("when it was settled", first.map(\.settledAt), is: [WallTime(milliseconds: 20)])
            try bench.reopen()
            try expect("those before 31", try bench.confirmAside(before: 31), is: 2)
            let last = try bench.journal.outcomes(after: .start, limit: 10).outcomes.map(\.terminal)
            try expect("outcomes", last, is: [.confirmed, .confirmed, .confirmed])
            let status = try bench.journal.status()
            try expect("those aside", status.aside, is: 0)
            try expect("those confirmed", status.totals.confirmed, is: 3)
            try expect("the Producer's", try bench.journal.producers().first?.totals.confirmed, is: 3)
            let again = try bench.append(try bench.submission(1...1, lane: lane, identities: true))
            try expect("the outcome of a repeat", again.repeats.map(\.outcome), is: [.confirmed])
        },
        Rule("Without outcomes kept, those that were aside leave none") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            try bench.quiet(uids, lane, at: 20, keepsOutcomes: false)
            try expect("trimmed", try bench.trim(TrimBounds(greatestAside: 0)).aside, is: 2)
            try expect("outcomes", bench.journal.outcomeCount, is: 0)
            try expect("those confirmed", try bench.journal.status().totals.confirmed, is: 2)
        },
        Rule("What a clock that was ahead has put aside does not stay for ever") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            try bench.quiet([uids[0]], lane, at: 1_000_000)
            try bench.quiet([uids[1]], lane, at: 500)
            let bounds = TrimBounds(
                asideBefore: WallTime(milliseconds: 100), asideAfter: WallTime(milliseconds: 1000))
            try expect("trimmed", try bench.trim(bounds).aside, is: 1)
            try expect(
                "outcomes", try bench.journal.outcomes(after: .start, limit: 10).outcomes.map(\.uid), is: [uids[0]])
        },
        Rule("Beyond the bound the oldest are confirmed, whatever their UIDs and lanes") { bench in
            let lane = try bench.lane()
            let other = try bench.lane(JournalBench.considerate)
            let uids = try bench.append(1...3, lane: lane)
            let others = try bench.append(4...6, lane: other)
            try bench.quiet(others, other, at: 10)
            try bench.quiet([uids[2]], lane, at: 20)
            try bench.quiet([uids[0]], lane, at: 30, greatest: 3)
            func over() throws -> [UID] { try bench.journal.outcomes(after: .start, limit: 10).outcomes.map(\.uid) }
            try expect("the first that are confirmed", try over(), is: [others[0], others[1]])
            try expect("trimmed", try bench.trim(TrimBounds(greatestAside: 1)).aside, is: 2)
            try expect("those that are confirmed then", try over(), is: others + [uids[2]])
            let left = EntryFate.aside(JournalBench.immediate, since: WallTime(milliseconds: 30))
            try expect("the one that is left", try bench.journal.fate(of: uids[0]), is: left)
        },
        Rule("A late error recalls: among the unconfirmed or the deferred, as its word says; the rest is gone") {
            bench in
            let lane = try bench.lane()
            let producer = try bench.producer()
            let uids = try bench.append(1...4, lane: lane)
            try bench.quiet(uids, lane, at: 10)
            _ = try bench.trim(TrimBounds(greatestAside: 3))
            let due = WallTime(milliseconds: 40)
            let report = try bench.settle(
                SettlementBatch(others: [
                    Settlement(EntryKey(lane: lane, uid: uids[0]), .recall(due: nil, possiblySent: true)),
                    Settlement(EntryKey(lane: lane, uid: uids[1]), .recall(due: nil, possiblySent: true)),
                    Settlement(EntryKey(lane: lane, uid: uids[2]), .recall(due: nil, possiblySent: false)),
                    Settlement(EntryKey(lane: lane, uid: uids[3]), .recall(due: due, possiblySent: false)),
                ]))
            try expect("the report", report, is: SettlementReport(settled: 3, gone: 1))
            let again = try bench.settle([uids[1]], lane, .recall(due: nil, possiblySent: true))
            try expect("the report of a second time", again, is: SettlementReport(settled: 1))
            try expect("those that wait", try bench.uids(lane), is: [uids[1], uids[2]])
            let batch = try bench.journal.unconfirmed(lane, uids: [uids[1], uids[2]])
            try expect("which may have been sent", batch.items.map(\.isPossiblySent), is: [true, false])
            try expect("when the deferred one is due", try bench.journal.nextDue(lane), is: due)
            try expect("the backlog", bench.journal.backlog(of: producer), is: 3)
            try expect("those aside", try bench.journal.status().aside, is: 0)
            try bench.acknowledge(Array(uids.dropFirst()), lane)
            let totals = try bench.journal.status().totals
            try expect("those confirmed in the end", totals.confirmed, is: 4)
            try expect("the backlog in the end", bench.journal.backlog(of: producer), is: 0)
        },
        Rule("No other settlement touches what is aside") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            try bench.quiet(uids, lane, at: 10)
            for kind in [Settlement.Kind.unknown, .withdraw, .expire, .reject(sampleCause)] {
                try expect("a settlement", try bench.settle(uids, lane, kind).gone, is: 2)
            }
            try expect("an acknowledgement", try bench.acknowledge(uids, lane).gone, is: 2)
            try expect("a deferral", try bench.deferEntries(uids, lane, until: 40).gone, is: 2)
            try expect("those aside", try bench.journal.status().aside, is: 2)
        },
    ]
}

extension JournalBench {
    fileprivate func confirmAside(before: Int64) throws -> Int {
        let trimmed = try trim(TrimBounds(asideBefore: WallTime(milliseconds: before)))
        return trimmed.aside
    }

    @discardableResult
    fileprivate func quiet(
        _ uids: [UID], _ lane: LaneID, at time: Int64, keepsOutcomes: Bool = true, greatest: Int = .max
    ) throws -> SettlementReport {
        try settle(
            SettlementBatch(
                settledAt: WallTime(milliseconds: time), keepsOutcomes: keepsOutcomes,
                quieted: uids.map { EntryKey(lane: lane, uid: $0) }, greatestAside: greatest))
    }
}
