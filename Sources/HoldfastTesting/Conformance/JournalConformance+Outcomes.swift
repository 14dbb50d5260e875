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
            try expect("UIDs", try bench.journal.outcomes(after: .none, limit: 10).map(\.uid), is: [uids[1]])
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
                    uid: end.0, terminal: end.1, cause: number == 2 ? sampleCause : nil, settledAt: when,
                    id: SampleNotification.id(number), recipient: .device(SampleNotification.token(number)),
                    producer: "mails", tag: Array("tag \(number)".utf8))
            }
            let found = try bench.journal.outcomes(after: .none, limit: 10)
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
            let outcome = try bench.journal.outcomes(after: .none, limit: 1).first
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
        Rule("Outcomes are listed in UID order, and stay until they are removed") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...5, lane: lane)
            for uid in uids.reversed() { try bench.acknowledge([uid], lane, keepsOutcomes: true) }
            func listed(_ after: UID, _ limit: Int) throws -> [UID] {
                try bench.journal.outcomes(after: after, limit: limit).map(\.uid)
            }
            try expect("all", try listed(.none, 10), is: uids)
            try expect("two from the second on", try listed(uids[0], 2), is: [uids[1], uids[2]])
            try bench.removeOutcomes([uids[0], uids[2], UID(99)])
            try bench.removeOutcomes([uids[0]])
            try expect("those that are left", try listed(.none, 10), is: [uids[1], uids[3], uids[4]])
            try bench.reopen()
            try expect("how many wait after reopening", bench.journal.outcomeCount, is: 3)
            try expect("those that are left after reopening", try listed(.none, 10), is: [uids[1], uids[3], uids[4]])
        },
        Rule("Each commit reports how many outcomes wait") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            func reported() -> Int? { bench.reports.withLock { $0.last?.outcomes } }
            try bench.acknowledge(uids, lane, keepsOutcomes: true)
            try expect("after three", reported(), is: 3)
            try bench.removeOutcomes([uids[1]])
            try expect("after one was removed", reported(), is: 2)
        },
    ]

    static let trims: [Rule] = [
        Rule("Trimming deletes rejections that are too old, or too many: the oldest UIDs first") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...6, lane: lane)
            for (uid, time) in zip(uids, [60, 10, 20, 30, 40, 50] as [Int64]) {
                let cause = RejectionCause(reason: .badTopic, rejectedAt: WallTime(milliseconds: time))
                try bench.settle([uid], lane, .reject(cause))
            }
            func left() throws -> [UID] { try bench.journal.rejections(after: .none, limit: 10).map(\.uid) }
            try expect("without bounds", try bench.trim(TrimBounds()), is: Trimmed())
            let old = try bench.trim(TrimBounds(rejectionsBefore: WallTime(milliseconds: 30)))
            try expect("those before 30", old, is: Trimmed(rejections: 2))
            try expect("left", try left(), is: [uids[0], uids[3], uids[4], uids[5]])
            try expect("more than 3", try bench.trim(TrimBounds(greatestRejections: 3)), is: Trimmed(rejections: 1))
            try expect("more than 3 again", try bench.trim(TrimBounds(greatestRejections: 3)), is: Trimmed())
            try bench.reopen()
            try expect("left after reopening", try left(), is: [uids[3], uids[4], uids[5]])
            try expect("in the status", try bench.journal.status().rejections, is: 3)
        },
        Rule("Trimming forgets identities that are too old, or too many: the oldest first") { bench in
            let lane = try bench.lane()
            // Hours apart: a journal may keep identities in bundles of a time.
            let hour: Int64 = 3_600_000
            for number in 1...4 {
                let accepted = WallTime(milliseconds: 1_700_000_000_000 + Int64(number) * 24 * hour)
                let uids = try bench.append([number], lane: lane, identities: true, acceptedAt: accepted)
                try bench.acknowledge(uids, lane)
            }
            let second = WallTime(milliseconds: 1_700_000_000_000 + 48 * hour)
            try expect(
                "those before the second", try bench.trim(TrimBounds(identitiesBefore: second)).identities, is: 1)
            try expect("more than 2", try bench.trim(TrimBounds(greatestIdentities: 2)).identities, is: 1)
            try expect("remembered by the status", try bench.journal.status().identities, is: 2)
            try bench.reopen()
            let again = try bench.append(try bench.submission(1...4, lane: try bench.lane(), identities: true))
            try expect("repeats that are still recognised", again.repeats.map(\.index), is: [2, 3])
            try expect("entries", try bench.uids(try bench.lane()), is: [UID(5), UID(6)])
        },
        Rule("What was forgotten and taken again is not touched by the end of the first") { bench in
            let lane = try bench.lane()
            let first = try bench.append([1], lane: lane, identities: true)
            _ = try bench.trim(TrimBounds(greatestIdentities: 0))
            let again = try bench.append(try bench.submission([1], lane: lane, identities: true))
            guard again.repeats.isEmpty else { return }  // A journal may remember what is unconfirmed.
            try bench.acknowledge(first, lane)
            let third = try bench.append(try bench.submission([1], lane: lane, identities: true))
            try expect("the repeat", third.repeats, is: [Appended.Repeat(index: 0, uid: again.first, outcome: nil)])
        },
    ]
}
