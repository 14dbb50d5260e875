internal import Holdfast

extension JournalConformance {
    static let quarantine: [Rule] = [
        Rule("What is quarantined is out of the way, kept, and counted, over a reopening too") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...4, lane: lane)
            let record = try bench.journal.unconfirmed(lane, uids: [uids[1]])
            try expect("the entry", record.items.map(\.uid), is: [uids[1]])
            let moved = try bench.quarantine([uids[1], uids[2], UID(99)], lane)
            try expect("what was moved", moved, is: [uids[1], uids[2]])
            try expect("moved twice", try bench.quarantine([uids[1]], lane), is: [])
            for when in ["at once", "after reopening"] {
                let left = try bench.journal.unconfirmed(lane, after: .none, through: .max, limit: 10)
                try expect("what is read \(when)", left.items.map(\.uid), is: [uids[0], uids[3]])
                try expect("the depth \(when)", bench.journal.depth(lane), is: 2)
                try expect("the Producer's \(when)", bench.journal.backlog(of: try bench.producer()), is: 2)
                try expect("the number \(when)", bench.journal.quarantinedCount, is: 2)
                let kept = try bench.journal.quarantined(after: .none, limit: 10)
                try expect("the listing \(when)", kept.map(\.uid), is: [uids[1], uids[2]])
                try expect("its lanes \(when)", kept.map(\.lane), is: [JournalBench.immediate, JournalBench.immediate])
                try expect("its reasons \(when)", kept.map(\.fault), is: [.newerVersion(9), .newerVersion(9)])
                try expect("its Producers \(when)", kept.map(\.producer), is: ["default", "default"])
                try expect("its times \(when)", kept.map(\.quarantinedAt), is: [JournalBench.now, JournalBench.now])
                try expect("its records \(when)", kept.map(\.record.isEmpty), is: [false, false])
                try expect(
                    "behind the first \(when)",
                    try bench.journal.quarantined(after: uids[1], limit: 1).map(\.uid), is: [uids[2]])
                try expect(
                    "its fate \(when)", try bench.journal.fate(of: uids[1]),
                    is: .quarantined(JournalBench.immediate, possiblySent: false))
                let status = try bench.journal.status()
                try expect("accepted \(when)", status.totals.accepted, is: 4)
                try expect(
                    "unconfirmed, quarantined \(when)", [status.unconfirmed, status.quarantined], is: [2, 2])
                try expect("of the lane \(when)", status.lanes.first?.quarantined, is: 2)
                try bench.reopen()
                _ = try bench.lane()
            }
        },
        Rule("A Producer whose last entry is quarantined is told to be drained") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...1, lane: lane)
            _ = try bench.quarantine(uids, lane)
            let drained = bench.reports.withLock { $0.flatMap(\.drained) }
            try expect("those told of", drained, is: [try bench.producer()])
        },
        Rule("A quarantined entry that can be read waits again, due at once, as sent as it was") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane)
            _ = try bench.quarantine([uids[0]], lane)
            _ = try bench.quarantine([uids[1]], lane, possiblySent: true)
            try expect(
                "what waits again", try bench.retryQuarantined([uids[0], uids[1], uids[2]]), is: [uids[0], uids[1]])
            try expect("the number", bench.journal.quarantinedCount, is: 0)
            try expect("the depth", bench.journal.depth(lane), is: 3)
            try expect("the Producer's", bench.journal.backlog(of: try bench.producer()), is: 3)
            try expect("when it is due", try bench.journal.nextDue(lane), is: JournalBench.now)
            _ = try bench.promote(lane, now: JournalBench.now.milliseconds)
            let items = try bench.journal.unconfirmed(lane, uids: uids).items
            try expect("what may have been sent", items.map(\.isPossiblySent), is: [false, true, false])
        },
        Rule("A quarantined entry is ended by a withdrawal, and as unknown where it may have been sent") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane)
            _ = try bench.quarantine([uids[0]], lane)
            _ = try bench.quarantine([uids[1]], lane, possiblySent: true)
            let report = try bench.settle(uids, lane, .withdraw, keepsOutcomes: false)
            try expect("the report", report, is: SettlementReport(settled: 2, gone: 0, withdrawn: 1))
            let status = try bench.journal.status()
            try expect(
                "withdrawn, unknown", [status.totals.withdrawn, status.totals.unknown], is: [1, 1])
            try expect("what is left", [status.unconfirmed, status.quarantined], is: [0, 0])
        },
    ]
}

extension JournalBench {
    func quarantine(_ uids: [UID], _ lane: LaneID, possiblySent: Bool = false) throws -> [UID] {
        let items = uids.map { uid in
            QuarantineOrder.Item(
                UnreadableEntry(uid: uid, fault: .newerVersion(9)), isPossiblySent: possiblySent)
        }
        return try wait("quarantine") {
            journal.quarantine(QuarantineOrder(lane: lane, items: items, at: Self.now), completion: $0)
        }
    }

    func retryQuarantined(_ uids: [UID]) throws -> [UID] {
        try wait("retryQuarantined") { journal.retryQuarantined(uids, now: Self.now, completion: $0) }
    }
}
