internal import Holdfast

extension JournalConformance {
    static let marks: [Rule] = [
        Rule("A mark rises with each commit to the lesser of its ceiling and the lane's last UID") { bench in
            let lane = try bench.lane()
            bench.journal.raiseMark(of: lane, to: UID(25))
            try expect("the mark of an empty lane", try bench.mark(), is: .none)
            for last in [10, 20, 30] as [UInt64] {
                try bench.append(1...10, lane: lane)
                let line = try bench.report("the lane's line") { $0.lanes.first { $0.id == lane } }
                let expected = CommitReport.Lane(id: lane, lastUID: UID(last), mark: UID(min(last, 25)))
                try expect("the lane in the report of the append's own commit", line, is: expected)
            }
            try expect("possibly sent", try bench.journal.status().possiblySent, is: 25)
        },
        Rule("A mark below both its ceiling and the last UID rises without another call") { bench in
            let lane = try bench.lane()
            try bench.append(1...10, lane: lane)
            bench.journal.raiseMark(of: lane, to: UID(4))
            _ = try bench.report("a mark of 4") { $0.lanes.first { $0.id == lane && $0.mark == UID(4) } }
            bench.journal.raiseMark(of: lane, to: UID(99))
            _ = try bench.report("a mark of 10") { $0.lanes.first { $0.id == lane && $0.mark == UID(10) } }
            try expect("the mark", try bench.mark(), is: UID(10))
            try bench.reopen()
            let opening = try bench.journal.openLane(JournalBench.immediate)
            try expect("the mark after reopening", opening.markAtOpen, is: UID(10))
        },
        Rule("A lower ceiling lowers no mark, and none above it") { bench in
            let lane = try bench.lane()
            try bench.append(1...10, lane: lane)
            bench.journal.raiseMark(of: lane, to: UID(8))
            bench.journal.raiseMark(of: lane, to: UID(2))
            _ = try bench.report("a mark of 8") { $0.lanes.first { $0.id == lane && $0.mark == UID(8) } }
            bench.journal.raiseMark(of: lane, to: UID(2))
            try bench.append([11], lane: lane)
            try expect("the mark", try bench.mark(), is: UID(8))
            let marks = bench.reportedMarks(lane)
            try expect("reported marks, which never sink", marks, is: marks.sorted())
        },
        Rule("A mark that was set back stays there, its ceiling forgotten, until it is raised again") { bench in
            let lane = try bench.lane()
            bench.journal.raiseMark(of: lane, to: UID(100))
            try bench.append(1...10, lane: lane)
            try bench.lowerMark(lane, to: UID(3))
            try expect("the mark", try bench.mark(), is: UID(3))
            let line = try bench.report("the lane's line") { $0.lanes.first { $0.id == lane } }
            try expect("the mark in the report", line.mark, is: UID(3))
            try expect("possibly sent", try bench.journal.status().possiblySent, is: 3)
            try bench.append(1...10, lane: lane)
            try expect("the mark after another append", try bench.mark(), is: UID(3))
            try bench.reopen()
            let again = try bench.journal.openLane(JournalBench.immediate)
            try expect("the mark after reopening", again.markAtOpen, is: UID(3))
            bench.journal.raiseMark(of: again.id, to: UID(12))
            _ = try bench.report("a mark of 12") { $0.lanes.first { $0.mark == UID(12) } }
        },
        Rule("Setting a mark back never raises it, now or later") { bench in
            let lane = try bench.lane()
            try bench.append(1...5, lane: lane)
            bench.journal.raiseMark(of: lane, to: UID(2))
            _ = try bench.report("a mark of 2") { $0.lanes.first { $0.mark == UID(2) } }
            try bench.lowerMark(lane, to: UID(4))
            try expect("the mark", try bench.mark(), is: UID(2))
            bench.journal.raiseMark(of: lane, to: UID(5))
            _ = try bench.report("a mark of 5") { $0.lanes.first { $0.mark == UID(5) } }
            bench.journal.raiseMark(of: lane, to: UID(50))
            try bench.lowerMark(lane, to: UID(20))
            try bench.append(6...30, lane: lane)
            try expect("the mark when entries came under the forgotten ceiling", try bench.mark(), is: UID(5))
        },
        Rule("Each lane has its own mark") { bench in
            let (one, two) = (try bench.lane(), try bench.lane(JournalBench.once))
            try bench.append(1...3, lane: one)
            try bench.append(4...6, lane: two)
            bench.journal.raiseMark(of: two, to: UID(5))
            _ = try bench.report("a mark of 5") { $0.lanes.first { $0.id == two && $0.mark == UID(5) } }
            try expect("the other's mark", try bench.mark(), is: .none)
            try bench.lowerMark(one, to: .none)
            try expect("the second's mark", try bench.mark(JournalBench.once), is: UID(5))
        },
        Rule("A commit is reported before the completions of what it held") { bench in
            let lane = try bench.lane()
            let reports = bench.reports
            let journal = bench.journal
            let submission = try bench.submission(1...3, lane: lane)
            let seen: UID? = try bench.wait("append") { completion in
                journal.append(submission) { _ in
                    let last = reports.withLock { $0.last { !$0.lanes.isEmpty }?.lanes.first?.lastUID }
                    completion(.success(last))
                }
            }
            try expect("the last UID reported when the completion came", seen, is: UID(3))
        },
        Rule("A report says how much its commit was, how long it took, and what is in use") { bench in
            let lane = try bench.lane()
            let submission = try bench.submission(1...10, lane: lane, identities: true)
            _ = try bench.append(submission)
            let append = try bench.report("what was appended") { $0.measure.flatMap { $0.entries > 0 ? $0 : nil } }
            try expect("entries of an append", append.entries, is: 10)
            try expect("settlements of an append", append.settlements, is: 0)
            try expect("whether its bytes are counted", append.bytes >= submission.bytes.count, is: true)
            try expect("whether it took any time", append.duration > .zero, is: true)
            try expect("bytes in use", append.usedBytes, is: try bench.journal.status().usedBytes)
            _ = try bench.append(submission)
            _ = try bench.deferEntries([UID(1)], lane, until: 10)
            try bench.acknowledge([UID(1), UID(2), UID(3), UID(3)], lane)
            let measures = bench.reports.withLock { $0.compactMap(\.measure) }
            try expect("entries, without the repeats", measures.reduce(0) { $0 + $1.entries }, is: 10)
            try expect("settlements that took effect", measures.reduce(0) { $0 + $1.settlements }, is: 4)
            let last = try unwrap("the last report's measure", measures.last)
            try expect("bytes in use at last", last.usedBytes, is: try bench.journal.status().usedBytes)
        },
        Rule("A deferred entry is not possibly sent by its lane's mark") { bench in
            let lane = try bench.lane()
            try bench.append(1...4, lane: lane)
            bench.journal.raiseMark(of: lane, to: UID(3))
            _ = try bench.report("a mark of 3") { $0.lanes.first { $0.mark == UID(3) } }
            _ = try bench.deferEntries([UID(2)], lane, until: 10)
            try expect("possibly sent", try bench.journal.status().possiblySent, is: 2)
        },
    ]
}
