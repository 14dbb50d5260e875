internal import Holdfast
internal import HoldfastAPNsAnswers

extension JournalConformance {
    static let producers: [Rule] = [
        Rule("A Producer has one number, for good") { bench in
            let names = ["default", "mails", String(repeating: "ü", count: 32)]
            let ids = try names.map { try bench.producer($0) }
            try expect("numbers of three names", Set(ids).count, is: 3)
            try expect("numbers when opened again", try names.map { try bench.producer($0) }, is: ids)
            try bench.reopen()
            try expect(
                "numbers after reopening", try names.reversed().map { try bench.producer($0) }, is: ids.reversed())
            let found = try bench.journal.producers()
            try expect("names by number", found.map { [$0.name: $0.id] }, is: zip(names, ids).map { [$0: $1] })
        },
        Rule("Backlog and totals are kept for each Producer") { bench in
            let lane = try bench.lane()
            let one = try bench.append(1...4, lane: lane, producer: "one")
            let two = try bench.append(5...7, lane: lane, producer: "two")
            try bench.acknowledge([one[0], two[0]], lane)
            try bench.settle([one[1]], lane, .reject(sampleCause))
            try bench.settle([two[1]], lane, .unknown)
            try bench.settle([one[2]], lane, .expire)
            _ = try bench.deferEntries([one[3]], lane, until: 5)
            for _ in 1...2 {
                let found = try bench.journal.producers()
                try expect("names", found.map(\.name), is: ["one", "two"])
                try expect("unconfirmed", found.map(\.unconfirmed), is: [1, 1])
                let backlogs = try ["one", "two"].map { bench.journal.backlog(of: try bench.producer($0)) }
                try expect("backlogs", backlogs, is: [1, 1])
                let totals = found.map { [$0.totals.accepted, $0.totals.confirmed, $0.totals.rejected] }
                try expect("accepted, confirmed, rejected", totals, is: [[4, 1, 1], [3, 1, 0]])
                try expect(
                    "expired, unknown", found.map { [$0.totals.expired, $0.totals.unknown] }, is: [[1, 0], [0, 1]])
                try bench.reopen()
            }
        },
        Rule("A Producer whose last unconfirmed entry is settled is reported as drained, and only then") { bench in
            let lane = try bench.lane()
            let one = try bench.append(1...2, lane: lane, producer: "one")
            let two = try bench.append([3], lane: lane, producer: "two")
            func drained() -> [ProducerID] { bench.reports.withLock { $0.flatMap(\.drained) } }
            try bench.acknowledge([one[0]], lane)
            _ = try bench.deferEntries([one[1]], lane, until: 1)
            try expect("drained while one is deferred", drained(), is: [])
            try bench.acknowledge([one[1]], lane)
            try expect("drained", drained(), is: [try bench.producer("one")])
            try bench.acknowledge(one, lane)
            try expect("drained, after a settlement of what is gone", drained().count, is: 1)
            try bench.settle(two, lane, .unknown)
            try expect("drained by another end", drained().last, is: try bench.producer("two"))
            try bench.append([4], lane: lane, producer: "one")
            try expect("drained, after an append", drained().count, is: 2)
        },
        Rule("A Producer's name has 1 to 64 bytes") { bench in
            for name in ["", String(repeating: "x", count: 65)] {
                try bench.expectError(.invalidEntry, "a name of \(name.utf8.count) bytes") {
                    _ = try bench.journal.openProducer(name)
                }
            }
            _ = try bench.producer(String(repeating: "x", count: 64))
        },
        Rule("A journal tells so many Producers apart, and no more") { bench in
            for number in 1...ProducerID.greatestCount { _ = try bench.producer("producer \(number)") }
            try bench.expectError(.tooManyProducers, "one name too many") {
                _ = try bench.journal.openProducer("one too many")
            }
            try expect("one that is known", try bench.producer("producer 7"), is: try bench.producer("producer 7"))
            try expect("how many there are", try bench.journal.producers().count, is: ProducerID.greatestCount)
        },
    ]

    static let identities: [Rule] = [
        Rule("A repeat of what is unconfirmed is not appended, and its UID is told") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane, identities: true)
            _ = try bench.deferEntries([uids[2]], lane, until: 10)
            let again = try bench.append(try bench.submission([8, 2, 9, 3], lane: lane, identities: true))
            let repeats = [(1, uids[1]), (3, uids[2])].map { Appended.Repeat(index: $0, uid: $1, outcome: nil) }
            try expect("repeats", again.repeats, is: repeats)
            try expect("the first of the others", again.first, is: UID(4))
            try expect(
                "entries: the others have consecutive UIDs", try bench.uids(lane), is: [1, 2, 4, 5].map { UID($0) })
            let batch = try bench.journal.unconfirmed(lane, uids: [UID(5)])
            try expect("the second of the others", try batch.notification(at: 0).id, is: SampleNotification.id(9))
            try expect("accepted", try bench.journal.status().totals.accepted, is: 5)
            try expect("the backlog", bench.journal.backlog(of: try bench.producer()), is: 5)
        },
        Rule("A repeat of what has met its end is not appended, and its outcome is told") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...5, lane: lane, identities: true)
            try bench.acknowledge([uids[0]], lane)
            try bench.settle([uids[1]], lane, .reject(sampleCause))
            try bench.settle([uids[2]], lane, .expire)
            try bench.settle([uids[3]], lane, .unknown, keepsOutcomes: true)
            _ = try bench.trim(TrimBounds(greatestOutcomeBytes: 0))
            let outcomes: [TerminalOutcome?] = [.confirmed, .rejected(.unregistered), .expired, .unknown, nil]
            let expected = zip(0..., zip(uids, outcomes)).map {
                Appended.Repeat(index: $0, uid: $1.0, outcome: $1.1)
            }
            for _ in 1...2 {
                let found = try bench.append(try bench.submission(1...5, lane: try bench.lane(), identities: true))
                try expect("repeats", found.repeats, is: expected)
                try expect("the depth", bench.journal.depth(try bench.lane()), is: 1)
                try bench.reopen()
            }
            try expect("the next UID: repeats take none", try bench.journal.status().nextUID, is: UID(6))
        },
        Rule("A repeat of a rejection that an operator has sent again is one of the new entry") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane, identities: true)
            try bench.settle(uids, lane, .reject(sampleCause))
            var retry = try bench.submission([1], lane: lane)
            retry.retries = [(0, uids[0])]
            let new = try bench.append(retry).first
            let repeats = { () throws -> [Appended.Repeat] in
                let again = try bench.submission([1, 2], lane: try bench.lane(), identities: true)
                return try bench.append(again).repeats
            }
            let rejected = Appended.Repeat(index: 1, uid: uids[1], outcome: .rejected(.unregistered))
            let waiting = [Appended.Repeat(index: 0, uid: new, outcome: nil), rejected]
            try expect("while it waits", try repeats(), is: waiting)
            try bench.reopen()
            try expect("after a new start", try repeats(), is: waiting)
            try bench.acknowledge([new], try bench.lane())
            let confirmed = [Appended.Repeat(index: 0, uid: new, outcome: .confirmed), rejected]
            try expect("when it is confirmed", try repeats(), is: confirmed)
            try bench.reopen()
            try expect("and after another start", try repeats(), is: confirmed)
        },
        Rule("As long as an identity is remembered, so is what became of its entry") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...3, lane: lane, identities: true)
            try bench.acknowledge([uids[0]], lane)
            try bench.settle([uids[1]], lane, .expire)
            let fates: [EntryFate?] = [
                .settled(.confirmed), .settled(.expired),
                .unconfirmed(JournalBench.immediate, attempts: 0, possiblySent: false),
            ]
            try expect("of these", try uids.map { try bench.journal.fate(of: $0) }, is: fates)
            try bench.reopen()
            try expect("of these later", try uids.map { try bench.journal.fate(of: $0) }, is: fates)
            _ = try bench.trim(TrimBounds(greatestIdentities: 0))
            try expect("of one that is forgotten", try bench.journal.fate(of: uids[0]), is: nil)
        },
        Rule("Of two equal identities in one submission the second is a repeat of the first") { bench in
            let lane = try bench.lane()
            let found = try bench.append(try bench.submission([1, 2, 1, 3, 2], lane: lane, identities: true))
            let expected = [(2, 1), (4, 2)].map { Appended.Repeat(index: $0, uid: UID($1), outcome: nil) }
            try expect("repeats", found.repeats, is: expected)
            try expect("entries", try bench.uids(lane), is: [1, 2, 3].map { UID($0) })
        },
        Rule("A repeat that follows before its first is on disk is a repeat all the same") { bench in
            let lane = try bench.lane()
            let submission = try bench.submission([1], lane: lane, identities: true)
            let answers = Monitor<[Appended]>([])
            for _ in 1...50 {
                bench.journal.append(
                    submission,
                    completion: bench.completion { result in
                        if case .success(let appended) = result { answers.withLock { $0.append(appended) } }
                    })
            }
            let last = try bench.append(submission)
            let all = answers.withLock { $0 } + [last]
            let expected = Appended.Repeat(index: 0, uid: UID(1), outcome: nil)
            try expect("repeats of 51", all.map(\.repeats), is: [[]] + Array(repeating: [expected], count: 50))
            try expect("the depth", bench.journal.depth(lane), is: 1)
        },
        Rule("An inquiry is told what is remembered, and appends nothing") { bench in
            let lane = try bench.lane()
            let uids = try bench.append(1...2, lane: lane, identities: true)
            try bench.acknowledge([uids[1]], lane)
            let expected = [
                Appended.Repeat(index: 1, uid: uids[1], outcome: .confirmed),
                Appended.Repeat(index: 2, uid: uids[0], outcome: nil),
            ]
            for _ in 1...2 {
                var only = Submission(producer: try bench.producer(), acceptedAt: JournalBench.now)
                only.inquiries = [9, 2, 1].map(JournalBench.identity)
                let found = try bench.append(only)
                try expect("what is known", found.known, is: expected)
                try expect("repeats", found.repeats, is: [])
                try bench.reopen()
            }
            var mixed = try bench.submission([1, 3], lane: try bench.lane(), identities: true)
            mixed.inquiries = [9, 2, 1].map(JournalBench.identity)
            let found = try bench.append(mixed)
            try expect("what is known beside appends", found.known, is: expected)
            try expect("repeats beside inquiries", found.repeats.map(\.uid), is: [uids[0]])
            try expect("the next UID: an inquiry takes none", try bench.journal.status().nextUID, is: UID(4))
        },
        Rule("Without an identity nothing is a repeat") { bench in
            let lane = try bench.lane()
            try bench.append([1, 1], lane: lane)
            try bench.append([1], lane: lane)
            var mixed = try bench.submission([1, 2], lane: lane)
            mixed.identities = [(1, JournalBench.identity(2))]
            _ = try bench.append(mixed)
            let found = try bench.append(mixed)
            try expect("repeats", found.repeats.map(\.index), is: [1])
            try expect("the depth", bench.journal.depth(lane), is: 6)
        },
        Rule("The identity key is made with the journal, and stays") { bench in
            let key = bench.journal.identityKey
            try bench.reopen()
            try expect("the key after reopening", bench.journal.identityKey, is: key)
        },
    ]
}
