internal import Dispatch
internal import Holdfast

extension JournalConformance {
    static let appends: [Rule] = [
        Rule("The entries of a submission get consecutive UIDs, in their order, from 1 on") { bench in
            let lane = try bench.lane()
            try expect("the first UIDs", try bench.append(1...3, lane: lane), is: [UID(1), UID(2), UID(3)])
            try expect("the next", try bench.append(4...5, lane: lane), is: [UID(4), UID(5)])
            let batch = try bench.journal.unconfirmed(lane, after: .none, through: .max, limit: 10)
            let ids = try batch.items.indices.map { try batch.notification(at: $0).id }
            try expect("apns-ids in UID order", ids, is: (1...5).map { SampleNotification.id($0) })
        },
        Rule("A UID is never given twice, not even when all before it are gone and the journal is reopened") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            try bench.acknowledge(uids, lane)
            try bench.reopen()
            let next = try bench.append([4], lane: try bench.lane())
            try expect("the UID after three", next, is: [UID(4)])
            try expect("the next UID in the status", try bench.journal.status().nextUID, is: UID(5))
        },
        Rule("What was appended is there after reopening, byte for byte") { bench in
            let lane = try bench.lane()
            let submission = try bench.submission([7, 8], lane: lane, payloadByteCount: 4000)
            let first = try bench.append(submission).first.rawValue
            try bench.reopen()
            let batch = try bench.journal.unconfirmed(try bench.lane(), after: .none, through: .max, limit: 10)
            try expect("UIDs", batch.items.map(\.uid), is: [UID(first), UID(first + 1)])
            for (item, entry) in zip(submission.items, batch.items) {
                try expect(
                    "the packed notification", Array(batch.bytes[entry.range]),
                    is: Array(submission.bytes[item.range]))
            }
            try expect("attempts of what was never tried", batch.items.map(\.attempts), is: [0, 0])
            try expect("entries said to be possibly sent", batch.items.filter(\.isPossiblySent).count, is: 0)
        },
        Rule("A note of a submission is there with its entries") { bench in
            var submission = try bench.submission([1], lane: try bench.lane())
            submission.note = ("file", [1])
            _ = try bench.append(submission)
            try expect("the note", try bench.journal.note("file"), is: [1])
            var noteAlone = try bench.submission([], lane: try bench.lane())
            noteAlone.note = ("file", [2])
            _ = try bench.append(noteAlone)
            try bench.reopen()
            try expect("the note of a submission without items", try bench.journal.note("file"), is: [2])
            try expect("the next UID", try bench.journal.status().nextUID, is: UID(2))
        },
        Rule("Completions come in the order of the calls, whatever was called but a trim") { bench in
            let lane = try bench.lane()
            let order = Monitor<[Int]>([])
            var count = 0
            func note<Value: Sendable>() -> @Sendable (Result<Value, JournalError>) -> Void {
                let number = count
                count += 1
                return bench.completion { _ in order.withLock { $0.append(number) } }
            }
            for number in 1...30 {
                let submission = try bench.submission([number], lane: lane)
                let uid = EntryKey(lane: lane, uid: UID(UInt64(number)))
                bench.journal.append(submission, completion: note())
                bench.journal.settle(SettlementBatch(acknowledging: [uid]), completion: note())
                bench.journal.promoteDue(lane, after: nil, now: JournalBench.now, limit: 3, completion: note())
                bench.journal.lowerMark(of: lane, to: .none, completion: note())
                bench.journal.setReader("app", to: .start, completion: note())
            }
            try bench.append([31], lane: lane)
            try expect("the order of the completions", order.withLock { $0 }, is: Array(0..<count))
            try expect("entries whose settlement followed their append", try bench.uids(lane), is: [UID(31)])
        },
        Rule("Submissions from several threads at once get UIDs of their own, each its own run") { bench in
            let lane = try bench.lane()
            let firsts = Monitor<[UInt64]>([])
            let submission = try bench.submission([1, 2, 3], lane: lane)
            let completions = (0..<200).map { _ in
                bench.completion { (result: Result<Appended, JournalError>) in
                    if case .success(let appended) = result { firsts.withLock { $0.append(appended.first.rawValue) } }
                    firsts.broadcast()
                }
            }
            let journal = bench.journal
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for index in 0..<50 { journal.append(submission, completion: completions[thread * 50 + index]) }
            }
            let found = firsts.wait(atMost: bench.patience) { $0.count == 200 ? $0 : nil }
            let all = try unwrap("200 appends answered with success", found)
            try expect("first UIDs, in the order of the completions", all, is: (0..<200).map { 1 + 3 * UInt64($0) })
            try expect("the depth", bench.journal.depth(lane), is: 600)
        },
    ]

    static let reads: [Rule] = [
        Rule("Entries are read forward from a cursor, up to a bound, at most as many as asked for") { bench in
            let lane = try bench.lane()
            try bench.append(1...10, lane: lane)
            func read(_ after: UInt64, _ through: UInt64, _ limit: Int) throws -> [UInt64] {
                try bench.journal.unconfirmed(lane, after: UID(after), through: UID(through), limit: limit).items
                    .map(\.uid.rawValue)
            }
            try expect("from the front", try read(0, .max, 3), is: [1, 2, 3])
            try expect("from a cursor", try read(3, .max, 3), is: [4, 5, 6])
            try expect("up to a bound", try read(6, 8, 100), is: [7, 8])
            try expect("behind the last", try read(10, .max, 100), is: [])
            try expect("behind the greatest UID of all", try read(.max, .max, 100), is: [])
            try bench.acknowledge([UID(2), UID(5)], lane)
            try expect("over gaps", try read(1, .max, 4), is: [3, 4, 6, 7])
        },
        Rule("A batch holds about 1 MiB at most, and is empty only when there is no more") { bench in
            let lane = try bench.lane()
            for start in [1, 301] {
                let submission = try bench.submission(start..<start + 300, lane: lane, payloadByteCount: 4096)
                _ = try bench.append(submission)
            }
            var found: [UID] = []
            while true {
                let batch = try bench.journal.unconfirmed(lane, after: found.last ?? .none, through: .max, limit: 600)
                if batch.isEmpty { break }
                found += batch.items.map(\.uid)
                try expect(
                    "bytes of a batch within 1 MiB and one notification", batch.bytes.count <= (1 << 20) + 65_536)
            }
            try expect("all UIDs", found, is: (1...600).map { UID($0) })
        },
        Rule("Of some UIDs those are read that are unconfirmed and not deferred") { bench in
            let lane = try bench.lane()
            let other = try bench.lane(JournalBench.considerate)
            try bench.append(1...6, lane: lane)
            try bench.append([7], lane: other)
            try bench.acknowledge([UID(2)], lane)
            _ = try bench.deferEntries([UID(4)], lane, until: 1)
            let wanted = [1, 2, 4, 6, 7, 99].map { UID($0) }
            let batch = try bench.journal.unconfirmed(lane, uids: wanted)
            try expect("UIDs", batch.items.map(\.uid), is: [UID(1), UID(6)])
            try expect("the second's apns-id", try batch.notification(at: 1).id, is: SampleNotification.id(6))
            try expect("of none", try bench.journal.unconfirmed(lane, uids: []).count, is: 0)
        },
    ]
}
