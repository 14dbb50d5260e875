internal import Holdfast
internal import HoldfastAPNsAnswers

extension JournalConformance {
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
        Rule("Trimming deletes the oldest outcomes, and none that a reader is waited for") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3000, lane: lane)
            for (index, part) in stride(from: 0, to: 3000, by: 500).enumerated() {
                try bench.acknowledge(
                    Array(uids[part..<part + 500]), lane, keepsOutcomes: true,
                    settledAt: WallTime(milliseconds: Int64(index * 100)))
            }
            func trim(before time: Int64) throws {
                _ = try bench.trim(TrimBounds(outcomesBefore: WallTime(milliseconds: time)))
            }
            try trim(before: 100)
            let first = try bench.endedUIDs(limit: 1).first ?? .none
            // (A journal may keep a few more, beside those that are young enough.)
            try expect(
                "whether the first one left, \(first), is about the 501st", first <= uids[500] && first > uids[300])
            _ = try bench.journal.openReader("app", isWaitedFor: true)
            try bench.setReader("app", to: OutcomeCursor(1000))
            try trim(before: 1_000_000)
            try expect(
                "whether all is there that was not read", bench.journal.outcomeLog.deleted <= OutcomeCursor(1000))
            try bench.reopen()
            try expect("the unread", try bench.endedUIDs(after: OutcomeCursor(1000)), is: Array(uids[1000...]))
            try bench.setReader("app", to: OutcomeCursor(3000))
            _ = try bench.trim(TrimBounds(greatestOutcomeBytes: 0))
            try expect("left", bench.journal.outcomeLog.count, is: 0)
            let next = try bench.append(3001...3001, lane: try bench.lane())
            try bench.acknowledge(next, lane, keepsOutcomes: true)
            try expect(
                "the next cursor", try bench.journal.outcomes(after: .start, limit: 2).end, is: OutcomeCursor(3001))
        },
        Rule("However long outcomes are, a commit leaves the log within its limit, and keeps the newest") { bench in
            let lane = try bench.lane()
            let limit = 1 << 20
            var greatest = 0
            var last: [UID] = []
            for first in stride(from: 1, to: 1000, by: 100) {
                let submission = try bench.submission(first..<first + 100, lane: lane, payloadByteCount: 2000)
                let uid = try bench.append(submission).first.rawValue
                last = (uid..<uid + 100).map { UID($0) }
                var batch = SettlementBatch(
                    acknowledging: last.map { EntryKey(lane: lane, uid: $0) }, settledAt: JournalBench.now,
                    keepsOutcomes: true)
                batch.keepsPayloads = true
                batch.greatestOutcomeBytes = limit
                try bench.settle(batch)
                greatest = max(greatest, bench.journal.outcomeLog.bytes)
            }
            try expect("whether the log's \(greatest) bytes are at most \(limit)", greatest <= limit)
            try expect("whether they are more than half of that", bench.journal.outcomeLog.bytes > limit / 2)
            let newest = OutcomeCursor(900)
            try expect("what the last commit has added", try bench.endedUIDs(after: newest), is: last)
        },
    ]
}
