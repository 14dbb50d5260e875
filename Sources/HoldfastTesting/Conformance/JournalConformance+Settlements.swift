internal import Holdfast
internal import HoldfastAPNsAnswers

extension JournalConformance {
    private static let terminalKinds: [Settlement.Kind] = [.reject(sampleCause), .expire, .unknown, .withdraw]

    static let settlements: [Rule] = [
        Rule("What was acknowledged is gone, and counted") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...4, lane: lane)
            let report = try bench.acknowledge([uids[0], uids[2]], lane)
            try expect("the report", report, is: SettlementReport(settled: 2, gone: 0))
            try expect("entries", try bench.uids(lane), is: [uids[1], uids[3]])
            try bench.reopen()
            try expect("entries after reopening", try bench.uids(try bench.lane()), is: [uids[1], uids[3]])
            let totals = try bench.journal.status().totals
            try expect("accepted in the totals", totals.accepted, is: 4)
            try expect("confirmed in the totals", totals.confirmed, is: 2)
        },
        Rule("Each way to end is counted under its own name") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...10, lane: lane)
            try bench.acknowledge(Array(uids[0..<4]), lane)
            try bench.settle(Array(uids[4..<7]), lane, .reject(sampleCause))
            try bench.settle(Array(uids[7..<9]), lane, .expire)
            try bench.settle([uids[9]], lane, .unknown)
            try bench.settle(SettlementBatch(possibleDuplicates: 5))
            var totals = JournalTotals()
            totals.accepted = 10
            totals.confirmed = 4
            totals.rejected = 3
            totals.expired = 2
            totals.unknown = 1
            totals.possibleDuplicates = 5
            try expect("totals", try bench.journal.status().totals, is: totals)
            try bench.reopen()
            try expect("totals after reopening", try bench.journal.status().totals, is: totals)
        },
        Rule("The first durable settlement wins; a later one is counted as gone and changes nothing") { bench in
            let lane = try bench.lane()
            let late =
                terminalKinds + [
                    .deferUntil(WallTime(milliseconds: 5), attempts: 3, reason: .shutdown, possiblySent: true)
                ]
            for kind in terminalKinds {
                let uid = try bench.append([1], lane: lane)
                try bench.settle(uid, lane, kind, keepsOutcomes: true)
                let totals = try bench.journal.status().totals
                let outcomes = try bench.journal.outcomes(after: .start, limit: 100).outcomes
                let rejections = try bench.journal.rejections(after: .none, limit: 100)
                for second in late {
                    let report = try bench.settle(uid, lane, second, keepsOutcomes: true)
                    try expect("a second settlement", report, is: SettlementReport(settled: 0, gone: 1))
                }
                let report = try bench.acknowledge(uid, lane, keepsOutcomes: true)
                try expect("a late acknowledgement", report, is: SettlementReport(settled: 0, gone: 1))
                try expect("totals", try bench.journal.status().totals, is: totals)
                try expect("outcomes", try bench.journal.outcomes(after: .start, limit: 100).outcomes, is: outcomes)
                try expect("rejections", try bench.journal.rejections(after: .none, limit: 100), is: rejections)
            }
            try expect("the depth", bench.journal.depth(lane), is: 0)
            try expect("deferred entries", try bench.journal.nextDue(lane), is: nil)
        },
        Rule("A late \"not now\" does not write an acknowledged entry back") { bench in
            let lane = try bench.lane()
            let uids = try bench.append([1], lane: lane)
            try bench.acknowledge(uids, lane)
            let report = try bench.deferEntries(uids, lane, until: 5)
            try expect("the report", report, is: SettlementReport(settled: 0, gone: 1))
            try expect("the depth", bench.journal.depth(lane), is: 0)
            try expect("what falls due", try bench.journal.nextDue(lane), is: nil)
        },
        Rule("Of two settlements of one entry in a batch one takes effect") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            let keys = uids.map { EntryKey(lane: lane, uid: $0) }
            let report = try bench.settle(
                SettlementBatch(
                    acknowledging: [keys[0], keys[0]],
                    others: [Settlement(keys[0], .expire), Settlement(keys[1], .unknown), Settlement(keys[1], .expire)])
            )
            try expect("the report", report, is: SettlementReport(settled: 2, gone: 3))
            let totals = try bench.journal.status().totals
            try expect(
                "confirmed, unknown, expired", [totals.confirmed, totals.unknown, totals.expired], is: [1, 1, 0])
        },
        Rule("A settlement that names another lane, or an entry that never was, is counted as gone") { bench in
            let lane = try bench.lane()
            let other = try bench.lane(JournalBench.once)
            let uids = try bench.append([1], lane: lane)
            try expect("with another lane", try bench.acknowledge(uids, other).gone, is: 1)
            try expect("of no entry", try bench.settle([UID(99)], lane, .expire).gone, is: 1)
            try expect("the depth", bench.journal.depth(lane), is: 1)
        },
        Rule("A large batch is settled whole") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3000, lane: lane)
            let report = try bench.settle(
                SettlementBatch(
                    acknowledging: uids.prefix(2000).reversed().map { EntryKey(lane: lane, uid: $0) },
                    others: uids.dropFirst(2000).map { Settlement(EntryKey(lane: lane, uid: $0), .expire) },
                    possibleDuplicates: 3))
            try expect("the report", report, is: SettlementReport(settled: 3000, gone: 0))
            try expect("the depth", bench.journal.depth(lane), is: 0)
            try expect("possible duplicates", try bench.journal.status().totals.possibleDuplicates, is: 3)
        },
        Rule("A rejection is kept with its cause, its attempts, its Producer and its notification") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane, producer: "mails")
            _ = try bench.deferEntries([uids[1]], lane, until: 1, attempts: 4)
            _ = try bench.promote(lane, now: 2)
            try bench.settle([uids[2], uids[1]], lane, .reject(sampleCause))
            try bench.reopen()
            let found = try bench.journal.rejections(after: .none, limit: 10)
            try expect("UIDs", found.map(\.uid), is: [uids[1], uids[2]])
            let expected = Rejection(
                uid: uids[1], cause: sampleCause, attempts: 4, producer: "mails",
                acceptedAt: SampleNotification.acceptedAt,
                lane: JournalBench.immediate, notification: SampleNotification.numbered(2))
            try expect("the first", found.first, is: expected)
            try expect("how many", try bench.journal.status().rejections, is: 2)
            let next = try bench.journal.rejections(after: uids[1], limit: 10)
            try expect("UIDs from the first on", next.map(\.uid), is: [uids[2]])
            try expect("at most one", try bench.journal.rejections(after: .none, limit: 1).map(\.uid), is: [uids[1]])
        },
        Rule("What became of an entry is known as long as anything of it is there") { bench in
            let lane = try bench.lane()
            let key = JournalBench.immediate
            try bench.append(1...6, lane: lane)
            bench.journal.raiseMark(of: lane, to: UID(1))
            _ = try bench.report("the raised mark") { $0.lanes.first { $0.mark == UID(1) } }
            _ = try bench.deferEntries([UID(2)], lane, until: 7, attempts: 2)
            try bench.acknowledge([UID(3)], lane)
            try bench.acknowledge([UID(4)], lane, keepsOutcomes: true)
            try bench.settle([UID(5)], lane, .reject(sampleCause))
            let fates: [(UInt64, EntryFate?)] = [
                (1, .unconfirmed(key, attempts: 0, possiblySent: true)),
                (2, .deferred(key, until: WallTime(milliseconds: 7), attempts: 2, reason: .serviceUnavailable)),
                (3, nil), (4, .settled(.confirmed)), (5, .settled(.rejected(.unregistered))),
                (6, .unconfirmed(key, attempts: 0, possiblySent: false)), (7, nil),
            ]
            for (uid, fate) in fates { try expect("of \(uid)", try bench.journal.fate(of: UID(uid)), is: fate) }
            try bench.reopen()
            for (uid, fate) in fates { try expect("of \(uid) later", try bench.journal.fate(of: UID(uid)), is: fate) }
        },
    ]

    static let deferrals: [Rule] = [
        Rule("A deferred entry is unconfirmed, but is not read until it was brought back") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            let report = try bench.deferEntries([uids[1]], lane, until: 100, attempts: 5)
            try expect("the report", report, is: SettlementReport(settled: 1, gone: 0))
            try expect("entries", try bench.uids(lane), is: [uids[0], uids[2]])
            try expect("the depth", bench.journal.depth(lane), is: 3)
            try expect("the Producer's backlog", bench.journal.backlog(of: try bench.producer()), is: 3)
            let status = try bench.journal.status()
            try expect("unconfirmed and deferred", [status.unconfirmed, status.deferred], is: [3, 1])
            try bench.reopen()
            let again = try bench.lane()
            try expect("entries after reopening", try bench.uids(again), is: [uids[0], uids[2]])
            try expect("brought back", try bench.promote(again, now: 100), is: [uids[1]])
            let batch = try bench.journal.unconfirmed(again, uids: [uids[1]])
            try expect("its attempts", batch.items.map(\.attempts), is: [5])
            try expect("entries in UID order", try bench.uids(again), is: uids)
        },
        Rule("Deferred entries come back oldest due first, none before it is due, no more than asked for") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...5, lane: lane)
            for (uid, due) in zip(uids, [300, 100, 200, 100, 400] as [Int64]) {
                _ = try bench.deferEntries([uid], lane, until: due)
            }
            try expect("the next due", try bench.journal.nextDue(lane), is: WallTime(milliseconds: 100))
            try expect("none behind the last", try bench.promote(lane, after: 400, now: .max), is: [])
            try expect("none between", try bench.promote(lane, after: 300, now: 399), is: [])
            try expect("before any is due", try bench.promote(lane, now: 99), is: [])
            try expect("none when none are asked for", try bench.promote(lane, now: 500, limit: 0), is: [])
            try expect("two of four", try bench.promote(lane, now: 300, limit: 2), is: [uids[1], uids[3]])
            try expect("the rest that is due", try bench.promote(lane, now: 300), is: [uids[2], uids[0]])
            try expect("the next due then", try bench.journal.nextDue(lane), is: WallTime(milliseconds: 400))
            try expect("the last", try bench.promote(lane, now: 400), is: [uids[4]])
            try expect("the next due at the end", try bench.journal.nextDue(lane), is: nil)
        },
        Rule("Deferred entries that are due later than a time come back without those that are due earlier") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            for (uid, due) in zip(uids, [100, 200, 300] as [Int64]) {
                _ = try bench.deferEntries([uid], lane, until: due)
            }
            let late = try bench.promote(lane, after: 100, now: .max)
            try expect("those behind the first", late, is: [uids[1], uids[2]])
            try expect("the next due", try bench.journal.nextDue(lane), is: WallTime(milliseconds: 100))
        },
        Rule("Deferred entries come back into their own lane only") { bench in
            let (one, two) = (try bench.lane(), try bench.lane(JournalBench.once))
            let first = try bench.append([1], lane: one)
            let second = try bench.append([2], lane: two)
            _ = try bench.deferEntries(first, one, until: 10)
            _ = try bench.deferEntries(second, two, until: 20)
            try expect("due in the second lane", try bench.journal.nextDue(two), is: WallTime(milliseconds: 20))
            try expect("of the second lane", try bench.promote(two, now: 30), is: second)
            try expect("entries of the first lane", try bench.uids(one), is: [])
        },
        Rule("Only what is not deferred yet can be deferred; and what is deferred can meet its end") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...4, lane: lane)
            _ = try bench.deferEntries(uids, lane, until: 50, attempts: 1)
            let again = try bench.deferEntries(uids, lane, until: 10, attempts: 2)
            try expect("deferring what is deferred", again, is: SettlementReport(settled: 0, gone: 4))
            try expect("the next due", try bench.journal.nextDue(lane), is: WallTime(milliseconds: 50))
            try expect("acknowledged", try bench.acknowledge([uids[0]], lane).settled, is: 1)
            for (uid, kind) in zip(uids.dropFirst(), terminalKinds) {
                try expect("settled", try bench.settle([uid], lane, kind).settled, is: 1)
            }
            try expect("the depth", bench.journal.depth(lane), is: 0)
            try expect("the next due at the end", try bench.journal.nextDue(lane), is: nil)
            try expect("brought back", try bench.promote(lane, now: 1000), is: [])
        },
        Rule("An entry that was deferred as possibly sent is so for good") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            _ = try bench.deferEntries([uids[0]], lane, until: 10, possiblySent: true)
            _ = try bench.deferEntries([uids[1]], lane, until: 10, possiblySent: false)
            try expect("possibly sent while deferred", try bench.journal.status().possiblySent, is: 1)
            _ = try bench.promote(lane, now: 10)
            _ = try bench.deferEntries(uids, lane, until: 20, possiblySent: false)
            try bench.reopen()
            let again = try bench.lane()
            _ = try bench.promote(again, now: 20)
            let batch = try bench.journal.unconfirmed(again, uids: uids)
            try expect("possibly sent", batch.items.map(\.isPossiblySent), is: [true, false])
            try expect("possibly sent in the status", try bench.journal.status().possiblySent, is: 1)
            let fates = try uids.map { try bench.journal.fate(of: $0) }
            let expected = [true, false].map {
                EntryFate.unconfirmed(JournalBench.immediate, attempts: 1, possiblySent: $0)
            }
            try expect("fates", fates, is: expected)
        },
    ]
}
