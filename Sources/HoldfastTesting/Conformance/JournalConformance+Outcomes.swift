internal import Holdfast
internal import HoldfastAPNsAnswers

extension JournalConformance {
    static let outcomes: [Rule] = [
        Rule("Outcomes are kept when that is asked for, and not else") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            try bench.acknowledge([uids[0]], lane)
            try expect("how many wait", bench.journal.outcomeCount, is: 0)
            try bench.acknowledge([uids[1]], lane, keepsOutcomes: true)
            try expect("how many wait then", bench.journal.outcomeCount, is: 1)
            try expect("how many wait by the status", try bench.journal.status().outcomes, is: 1)
            try expect("UIDs", try bench.journal.outcomes(after: .start, limit: 10).outcomes.map(\.uid), is: [uids[1]])
        },
        Rule("An outcome says how it ended, when, and what the application needs to know it by") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...4, lane: lane, producer: "mails")
            let when = WallTime(milliseconds: 1_700_000_600_007)
            try bench.acknowledge([uids[0]], lane, keepsOutcomes: true, settledAt: when)
            let kinds: [Settlement.Kind] = [.reject(sampleCause), .expire, .unknown]
            for (uid, kind) in zip(uids.dropFirst(), kinds) {
                try bench.settle([uid], lane, kind, keepsOutcomes: true, settledAt: when)
            }
            try bench.reopen()
            let terminals: [TerminalOutcome] = [.confirmed, .rejected(.unregistered), .expired, .unknown]
            let expected = zip(1..., zip(uids, terminals)).map { number, end in
                Outcome(
                    cursor: OutcomeCursor(UInt64(number)), uid: end.0, terminal: end.1,
                    cause: number == 2 ? sampleCause : nil,
                    history: DeliveryHistory(
                        acceptedAt: SampleNotification.acceptedAt, settledAt: when, attempts: number <= 2 ? 1 : 0),
                    id: SampleNotification.id(number), recipient: .device(SampleNotification.token(number)),
                    topic: "com.example.app", producer: "mails", tag: Array("tag \(number)".utf8))
            }
            let found = try bench.journal.outcomes(after: .start, limit: 10).outcomes
            try expect("how many", found.count, is: expected.count)
            for (outcome, expected) in zip(found, expected) { try expect("outcome", outcome, is: expected) }
        },
        Rule("A broadcast comes back as it was, and its outcome names its channel") { bench in
            let lane = try bench.lane()
            let uid = try bench.appendBroadcast(lane: lane)
            try bench.reopen()
            let batch = try bench.journal.unconfirmed(lane, uids: [uid])
            try expect("the broadcast", try batch.notification(at: 0), is: SampleNotification.broadcast)
            try bench.acknowledge([uid], lane, keepsOutcomes: true)
            try bench.reopen()
            let outcome = try bench.journal.outcomes(after: .start, limit: 1).outcomes.first
            try expect("whom it was for", outcome?.recipient, is: SampleNotification.broadcast.recipient)
        },
        Rule("What is deferred, or gone, leaves no outcome") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            try bench.acknowledge([uids[0]], lane)
            try bench.acknowledge([uids[0]], lane, keepsOutcomes: true)
            let later = WallTime(milliseconds: 5)
            try bench.settle(
                [uids[1]], lane, .deferUntil(later, attempts: 1, reason: .shutdown, possiblySent: false),
                keepsOutcomes: true)
            try expect("how many wait", bench.journal.outcomeCount, is: 0)
        },
        Rule("Outcomes are listed in the order in which they ended, each with the next cursor, restarts included") {
            bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...5, lane: lane)
            for uid in uids.reversed() { try bench.acknowledge([uid], lane, keepsOutcomes: true) }
            try bench.reopen()
            let again = try bench.append(6...6, lane: try bench.lane())
            try bench.acknowledge(again, lane, keepsOutcomes: true)
            let all = try bench.journal.outcomes(after: .start, limit: 10)
            try expect("the order", all.outcomes.map(\.uid), is: uids.reversed() + again)
            try expect("the cursors", all.outcomes.map(\.cursor), is: (1...6).map { OutcomeCursor($0) })
            try expect("the page's end", all.end, is: OutcomeCursor(6))
            try expect(
                "two after the second", try bench.endedUIDs(after: OutcomeCursor(2), limit: 2), is: [uids[2], uids[1]])
            try expect(
                "none after the last", try bench.journal.outcomes(after: OutcomeCursor(6), limit: 2).end, is: all.end)
        },
        Rule("A batch's outcomes have the times and attempts that the batch says") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            _ = try bench.deferEntries([uids[1]], lane, until: 5, attempts: 2)
            let when = WallTime(milliseconds: 1_700_000_600_000)
            var batch = SettlementBatch(
                acknowledged: [
                    Acknowledgement(EntryKey(lane: lane, uid: uids[0]), sentAgo: SentAgo(milliseconds: 250)),
                    Acknowledgement(EntryKey(lane: lane, uid: uids[1])),
                ], others: [Settlement(EntryKey(lane: lane, uid: uids[2]), .expire)], settledAt: when,
                keepsOutcomes: true)
            batch.details[uids[1]] = SettlementDetail(uniqueID: "u-1")
            batch.keepsPayloads = true
            _ = try bench.settle(batch)
            try bench.reopen()
            let found = try bench.journal.outcomes(after: .start, limit: 10).outcomes.sorted { $0.uid < $1.uid }
            try expect("attempts", found.map(\.history.attempts), is: [1, 3, 0])
            let sent = WallTime(milliseconds: 1_700_000_599_750)
            try expect("sent at", found.map(\.history.sentAt), is: [sent, nil, nil])
            try expect(
                "accepted at", found.map(\.history.acceptedAt),
                is: Array(repeating: SampleNotification.acceptedAt, count: 3))
            try expect("ended at", found.map(\.settledAt), is: [when, when, when])
            try expect("unique ids", found.map(\.uniqueID), is: [nil, "u-1", nil])
            try expect("payloads", found.map(\.payload.isEmpty), is: [false, false, false])
        },
        Rule("What is taken back when it may have been sent is unknown, and its outcome says why") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            try bench.settle([uids[0]], lane, .withdrawSent, keepsOutcomes: true)
            try bench.settle([uids[1]], lane, .withdraw, keepsOutcomes: true)
            try bench.settle([uids[2]], lane, .unknown, keepsOutcomes: true)
            try bench.reopen()
            let outcomes = try bench.journal.outcomes(after: .start, limit: 10).outcomes
            try expect("how they ended", outcomes.map(\.terminal), is: [.unknown, .withdrawn, .unknown])
            try expect("why", outcomes.map { $0.cause?.reason }, is: [.withdrawn, nil, nil])
            try expect("rejections", try bench.journal.rejections(after: .none, limit: 10).count, is: 0)
        },
        Rule("A reader starts at the newest outcome, and its cursor is on disk") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...4, lane: lane)
            try bench.acknowledge([uids[0]], lane, keepsOutcomes: true)
            try expect(
                "where it starts", try bench.journal.openReader("hook", isWaitedFor: false), is: OutcomeCursor(1))
            try bench.acknowledge([uids[1], uids[2]], lane, keepsOutcomes: true)
            try bench.setReader("hook", to: OutcomeCursor(2))
            try bench.reopen()
            try expect("where it is", try bench.journal.openReader("hook", isWaitedFor: true), is: OutcomeCursor(2))
            try expect("unread", bench.journal.unreadOutcomeCount, is: 1)
            let known = OutcomeReader(name: "hook", cursor: OutcomeCursor(2), isWaitedFor: true)
            try expect("the readers", bench.journal.outcomeReaders, is: [known])
            try bench.setReader("hook", to: nil)
            try bench.reopen()
            try expect("the readers when it is forgotten", bench.journal.outcomeReaders, is: [])
            try expect("unread without readers", bench.journal.unreadOutcomeCount, is: 0)
        },
        Rule("Wrong cursors and readers are refused, and change nothing") { bench in
            let lane = try bench.lane()
            try bench.acknowledge(try bench.append(1...1, lane: lane), lane, keepsOutcomes: true)
            _ = try bench.journal.openReader("hook", isWaitedFor: false)
            try bench.expectError(.invalidEntry, "a wrong reader") { try bench.setReader("hook", to: OutcomeCursor(2)) }
            try bench.expectError(.notFound, "a wrong reader") { try bench.setReader("other", to: OutcomeCursor(1)) }
            try bench.expectError(.invalidEntry, "a wrong reader") {
                _ = try bench.journal.openReader("", isWaitedFor: false)
            }
            let long = String(repeating: "x", count: 65)
            try bench.expectError(.invalidEntry, "a wrong reader") {
                _ = try bench.journal.openReader(long, isWaitedFor: false)
            }
            for number in 1..<OutcomeReader.greatestCount {
                _ = try bench.journal.openReader("r\(number)", isWaitedFor: false)
            }
            try bench.expectError(.invalidEntry, "a wrong reader") {
                _ = try bench.journal.openReader("one more", isWaitedFor: false)
            }
            try expect("how many", bench.journal.outcomeReaders.count, is: OutcomeReader.greatestCount)
        },
        Rule("Each commit reports the newest outcome, and how many a reader that is waited for has not read") { bench in
            let lane = try bench.lane()
            _ = try bench.journal.openReader("app", isWaitedFor: true)
            let uids = try bench.append(1...3, lane: lane)
            func reported() -> [UInt64]? {
                bench.reports.withLock { $0.last.map { [$0.newestOutcome.rawValue, UInt64($0.unreadOutcomes)] } }
            }
            try bench.acknowledge(uids, lane, keepsOutcomes: true)
            try expect("after three", reported(), is: [3, 3])
            try bench.setReader("app", to: OutcomeCursor(2))
            try expect("after two were read", reported(), is: [3, 1])
        },
        Rule("A commit says whether the log has grown, or a reader of it has changed") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            try expect("of an append", try change(bench, lane, uids[1]), is: false)
            try bench.acknowledge([uids[0]], lane, keepsOutcomes: true)
            _ = try bench.append([3], lane: lane)
            let hasGrown = try bench.report("of the outcome") { report in
                report.newestOutcome == OutcomeCursor(1) && report.changesOutcomes ? true : nil
            }
            try expect("of an outcome", hasGrown, is: true)
            try expect("of an append behind it", try change(bench, lane, UID(3)), is: false)
            _ = try bench.journal.openReader("a", isWaitedFor: false)
            let last = bench.reports.withLock { $0.last?.changesOutcomes }
            try expect("of a new reader", last, is: true)
        },
        Rule("Outcomes are found by each of their properties, the newest first") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...40, lane: lane, producer: "mails")
            let others = try bench.append(41...60, lane: lane, producer: "news")
            for (index, uid) in (uids + others).enumerated() {
                try bench.acknowledge(
                    [uid], lane, keepsOutcomes: true, settledAt: WallTime(milliseconds: Int64(1000 + index)))
            }
            try bench.reopen()
            func found(_ change: (inout OutcomeQuery) -> Void, limit: Int = 100) throws -> [UID] {
                var query = OutcomeQuery()
                change(&query)
                let page = try bench.journal.findOutcomes(query, before: nil, limit: limit, mostBytes: .max)
                return page.outcomes.map(\.uid)
            }
            try expect("by UID", try found { $0.uid = uids[6] }, is: [uids[6]])
            try expect("by apns-id", try found { $0.id = SampleNotification.id(8) }, is: [uids[7]])
            try expect(
                "by token", try found { $0.recipient = .device(SampleNotification.token(9)) }, is: [uids[8]])
            try expect("by tag", try found { $0.tag = Array("tag 10".utf8) }, is: [uids[9]])
            try expect("by Producer", try found { $0.producer = "news" }, is: others.reversed())
            try expect("none by Producer", try found { $0.producer = "nobody" }, is: [])
            try expect("by topic", try found { $0.topic = "com.example.app" }.count, is: 60)
            try expect("by another topic", try found { $0.topic = "com.example.other" }, is: [])
            let between = try found {
                $0.since = WallTime(milliseconds: 1010)
                $0.until = WallTime(milliseconds: 1012)
            }
            try expect("by time", between, is: [uids[11], uids[10]])
            try expect("by how it ended", try found { $0.ending = "expired" }, is: [])
            try expect("two of them", try found({ $0.producer = "mails" }, limit: 2), is: [uids[39], uids[38]])
        },
        Rule("A search goes on where its last page has ended") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...7, lane: lane)
            for uid in uids { try bench.acknowledge([uid], lane, keepsOutcomes: true) }
            var found: [UID] = []
            var before: OutcomeCursor?
            repeat {
                let page = try bench.journal.findOutcomes(OutcomeQuery(), before: before, limit: 3, mostBytes: .max)
                found += page.outcomes.map(\.uid)
                before = page.end
            } while before != OutcomeCursor.start
            try expect("all of them", found, is: uids.reversed())
        },
    ]

    /// Whether the commit that has appended this entry has changed outcomes, by its report.
    private static func change(_ bench: JournalBench, _ lane: LaneID, _ uid: UID) throws -> Bool {
        try bench.report("of entry \(uid)") { report in
            report.lanes.contains { $0.id == lane && $0.lastUID == uid } ? report.changesOutcomes : nil
        }
    }
}
