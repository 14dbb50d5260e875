internal import Holdfast
internal import HoldfastAPNsAnswers

extension JournalBench {
    /// - Parameter addition: which addition to the blacklist it is.
    static func entry(
        _ number: Int, since: Int64 = 1000, reason: Reason = .unregistered, addition: UInt64 = 0
    ) -> BlacklistEntry {
        BlacklistEntry(
            token: SampleNotification.token(number), reason: reason, since: WallTime(milliseconds: since),
            learntAt: WallTime(milliseconds: 1_700_000_000_001), route: "default",
            topic: number.isMultiple(of: 2) ? "com.example.app" : nil, number: addition)
    }

    static func entry(
        _ number: Int, since: Int64 = 1000, in scope: BlacklistScope, addition: UInt64 = 0
    ) -> BlacklistEntry {
        var entry = entry(number, since: since, addition: addition)
        (entry.topic, entry.endpoint) = (scope.topic, scope.endpoint)
        return entry
    }

    static func registration(
        _ number: Int, _ time: Int64, topic: String = "com.example.app", endpoint: String = "service"
    ) -> TokenRegistration {
        TokenRegistration(
            recipient: SampleNotification.device(number), topic: topic, endpoint: endpoint,
            registeredAt: WallTime(milliseconds: time))
    }

    func blacklist(_ entries: [BlacklistEntry]) throws {
        try wait("the blacklist's add") { journal.blacklist.add(entries, completion: $0) }
    }

    func lift(_ registrations: [(Int, Int64)]) throws {
        let registrations = registrations.map { number, time in
            Self.registration(number, time)
        }
        try wait("the blacklist's lift") { journal.blacklist.lift(registrations, completion: $0) }
    }
}

extension JournalConformance {
    static let blacklist: [Rule] = [
        Rule("What was blacklisted is found by its token, over a reopening too") { bench in
            try expect("the number of an empty blacklist", bench.journal.blacklist.count, is: 0)
            let token = SampleNotification.device(1)
            try expect(
                "the entry of a token without one", try bench.journal.blacklist.entries(for: token).first, is: nil)
            try bench.blacklist([JournalBench.entry(1), JournalBench.entry(2)])
            try bench.blacklist([])
            for _ in 1...2 {
                try expect("the number", bench.journal.blacklist.count, is: 2)
                let found = try bench.journal.blacklist.entries(for: token).first
                try expect("the entry", found, is: JournalBench.entry(1, addition: 1))
                let other = try bench.journal.blacklist.entries(for: SampleNotification.device(2)).first
                try expect("the entry with a topic", other, is: JournalBench.entry(2, addition: 2))
                try expect("the number in the status", try bench.journal.status().blacklist, is: 2)
                try bench.reopen()
            }
        },
        Rule("Of two entries for one token the one that holds since later stays") { bench in
            let token = SampleNotification.device(1)
            try bench.blacklist([JournalBench.entry(1, since: 50)])
            try bench.blacklist([JournalBench.entry(1, since: 40, reason: .badDeviceToken)])
            try expect(
                "an earlier one later", try bench.journal.blacklist.entries(for: token).first?.since.milliseconds,
                is: 50)
            try bench.blacklist([JournalBench.entry(1, since: 50, reason: .badDeviceToken)])
            try expect(
                "one that holds since the same time", try bench.journal.blacklist.entries(for: token).first,
                is: JournalBench.entry(1, since: 50, addition: 1))
            var later = JournalBench.entry(1, since: 60, reason: .expiredToken)
            try bench.blacklist([JournalBench.entry(1, since: 55), later, JournalBench.entry(1, since: 57)])
            later.number = 3
            try expect("three in one commit", try bench.journal.blacklist.entries(for: token).first, is: later)
            try expect("the number", bench.journal.blacklist.count, is: 1)
        },
        Rule("A token has one entry for each topic and endpoint, and they come together") { bench in
            let scopes = [(nil, nil), (nil, "sandbox"), ("", nil), ("a", nil), ("a", "sandbox"), ("b", nil)]
                .map { BlacklistScope(topic: $0.0, endpoint: $0.1) }
            let entries = scopes.indices.map { JournalBench.entry(1, in: scopes[$0], addition: UInt64($0 + 1)) }
            try bench.blacklist(Array(entries.reversed()))
            try bench.blacklist([JournalBench.entry(2), JournalBench.entry(1, since: 999, in: scopes[4])])
            for _ in 1...2 {
                let found = try bench.journal.blacklist.entries(for: SampleNotification.device(1))
                try expect("the entries' scopes", found.map(\.scope), is: scopes)
                try expect("their numbers", found.map(\.number), is: [6, 5, 4, 3, 2, 1])
                try expect("the number of tokens", bench.journal.blacklist.count, is: 2)
                let page = try bench.journal.blacklist.list(after: nil, limit: 1)
                try expect("a page of one entry or more", page, is: found)
                let rest = try bench.journal.blacklist.list(after: found[0].recipient, limit: 1)
                try expect("the page behind it", rest.map(\.recipient), is: [SampleNotification.device(2)])
                try bench.reopen()
            }
            var renewed = JournalBench.entry(1, since: 1001, in: scopes[3])
            renewed.status = 410
            renewed.answered = UID(77)
            try bench.blacklist([renewed])
            renewed.number = 8
            let found = try bench.journal.blacklist.entries(for: SampleNotification.device(1))
            try expect("the renewed entry", found[3], is: renewed)
            try expect("the others", found.map(\.since.milliseconds), is: [1000, 1000, 1000, 1001, 1000, 1000])
        },
        Rule("An item of a batch is found with all entries of its token") { bench in
            let lane = try bench.lane()
            try bench.append([5, 6], lane: lane)
            let batch = try bench.journal.unconfirmed(lane, after: .none, through: .max, limit: 10)
            let scopes = ["a", "b"].map { BlacklistScope(topic: $0) }
            try bench.blacklist(scopes.map { JournalBench.entry(6, in: $0) })
            let found = try bench.journal.blacklist.lookUp(batch).entries
            try expect("indices", found.map(\.index), is: [1, 1])
            try expect("scopes", found.map(\.entry.scope), is: scopes)
        },
        Rule("A registration lifts the entries that cover it, and no others") { bench in
            let scopes = [(nil, nil), (nil, "other"), ("a", nil), ("a", "other"), ("a", "service"), ("b", "service")]
                .map { BlacklistScope(topic: $0.0, endpoint: $0.1) }
            try bench.blacklist(scopes.map { JournalBench.entry(1, in: $0) })
            try bench.wait("the blacklist's lift") {
                bench.journal.blacklist.lift([JournalBench.registration(1, 1001, topic: "a")], completion: $0)
            }
            try bench.reopen()
            let left = try bench.journal.blacklist.entries(for: SampleNotification.device(1))
            try expect("what is left", left.map(\.scope), is: [scopes[1], scopes[3], scopes[5]])
        },
        Rule("One entry of a token is removed without the others, and with the last the token goes") { bench in
            let token = SampleNotification.device(1)
            let scopes = [BlacklistScope(), BlacklistScope(topic: "a"), BlacklistScope(topic: "a", endpoint: "e")]
            try bench.blacklist(scopes.map { JournalBench.entry(1, in: $0) })
            let unknown = BlacklistKey(token, BlacklistScope(topic: "b"))
            let keys = [BlacklistKey(token, scopes[1]), unknown, BlacklistKey(SampleNotification.device(2))]
            try expect("how many", try bench.journal.blacklist.remove(keys), is: 1)
            let left = try bench.journal.blacklist.entries(for: token).map(\.scope)
            try expect("what is left", left, is: [scopes[0], scopes[2]])
            try expect("how many there were", try bench.journal.blacklist.remove([BlacklistKey(token)]), is: 2)
            try expect("the number of tokens", bench.journal.blacklist.count, is: 0)
        },
        Rule("At the most entries of a token the oldest that names a topic gives way") { bench in
            let token = SampleNotification.device(1)
            let most = TokenEntries.greatestCount
            try bench.blacklist([JournalBench.entry(1, in: BlacklistScope())])
            func entry(_ number: Int) -> BlacklistEntry {
                JournalBench.entry(1, in: BlacklistScope(topic: "topic \(1000 + number)"))
            }
            try bench.blacklist((1...most).map(entry))
            try bench.blacklist([entry(2)])
            let found = try bench.journal.blacklist.entries(for: token)
            try expect("the number of entries", found.count, is: most)
            try expect("the first two topics", found.prefix(2).map(\.topic), is: [nil, "topic 1002"])
        },
        Rule("The entries of a batch's tokens are found by index") { bench in
            let lane = try bench.lane()
            try bench.append([5, 6, 7, 6], lane: lane)
            let batch = try bench.journal.unconfirmed(lane, after: .none, through: .max, limit: 10)
            try expect("in an empty blacklist", try bench.journal.blacklist.lookUp(batch).entries.count, is: 0)
            try bench.blacklist([JournalBench.entry(6), JournalBench.entry(5), JournalBench.entry(99)])
            let found = try bench.journal.blacklist.lookUp(batch).entries.sorted { $0.index < $1.index }
            try expect("indices", found.map(\.index), is: [0, 1, 3])
            try expect(
                "entries", found.map(\.entry),
                is: [(5, 2), (6, 1), (6, 1)].map { JournalBench.entry($0, addition: $1) })
        },
        Rule("A registration lifts an entry that is older, and no other") { bench in
            try bench.blacklist((1...3).map { JournalBench.entry($0, since: 1000) })
            try bench.lift([(1, 999), (2, 1000), (3, 1001), (4, 5000)])
            try bench.reopen()
            let left = try bench.journal.blacklist.list(after: nil, limit: 10).map(\.recipient)
            try expect("what is left", left, is: [1, 2].map { SampleNotification.device($0) })
            try expect("the number", bench.journal.blacklist.count, is: 2)
        },
        Rule("Each addition to the blacklist has the next number, which is never given again") { bench in
            func numbers() throws -> [UInt64] {
                try bench.journal.blacklist.list(after: nil, limit: 10).map(\.number)
            }
            try expect("the last number of an empty blacklist", bench.journal.blacklist.lastNumber, is: 0)
            try bench.blacklist([JournalBench.entry(3), JournalBench.entry(1), JournalBench.entry(2)])
            try expect("the numbers, in the order of the tokens", try numbers(), is: [2, 3, 1])
            try bench.blacklist([JournalBench.entry(1, since: 999), JournalBench.entry(2, since: 1000)])
            try expect("the last number after additions without effect", bench.journal.blacklist.lastNumber, is: 3)
            try bench.blacklist([JournalBench.entry(3, since: 1001, addition: 77)])
            try expect("the numbers after a renewal", try numbers(), is: [2, 3, 4])
            _ = try bench.journal.blacklist.remove([SampleNotification.device(3)])
            try bench.lift([(1, 2000)])
            try bench.reopen()
            try expect("the last number, over a reopening", bench.journal.blacklist.lastNumber, is: 4)
            try bench.blacklist([JournalBench.entry(3)])
            try expect("the numbers after a removal", try numbers(), is: [3, 5])
        },
        Rule("Removing says how many there were") { bench in
            try bench.blacklist((1...3).map { JournalBench.entry($0) })
            let tokens = [1, 3, 9].map { SampleNotification.device($0) }
            try expect("how many", try bench.journal.blacklist.remove(tokens), is: 2)
            try expect("how many again", try bench.journal.blacklist.remove(tokens), is: 0)
            try expect("the number", bench.journal.blacklist.count, is: 1)
        },
        Rule("A channel is never on the blacklist, also when a token that is has the same bytes") { bench in
            var entry = JournalBench.entry(1)
            entry.recipient = .device(SampleNotification.tokenOfBroadcast)
            try bench.blacklist([entry])
            let lane = try bench.lane()
            let uid = try bench.appendBroadcast(lane: lane)
            let batch = try bench.journal.unconfirmed(lane, uids: [uid])
            try expect("how many are blacklisted", try bench.journal.blacklist.lookUp(batch).entries.count, is: 0)
        },
        Rule("The blacklist is listed in the order of the tokens' bytes, page by page") { bench in
            try bench.blacklist([4, 1, 300, 2].map { JournalBench.entry($0) })
            func page(_ after: Int?, _ limit: Int) throws -> [Recipient] {
                try bench.journal.blacklist.list(after: after.map(SampleNotification.device), limit: limit).map(
                    \.recipient)
            }
            try expect("the first two", try page(nil, 2), is: [1, 2].map { SampleNotification.device($0) })
            try expect("the next two", try page(2, 2), is: [4, 300].map { SampleNotification.device($0) })
            try expect("above one that is not there", try page(3, 1), is: [SampleNotification.device(4)])
            try expect("behind the last", try page(300, 2), is: [])
        },
        Rule("The blacklist's completions come in the order of the calls") { bench in
            let order = Monitor<[Int]>([])
            for number in 0..<40 {
                let done: @Sendable (Result<Void, JournalError>) -> Void = bench.completion { _ in
                    order.withLock { $0.append(number) }
                }
                if number.isMultiple(of: 2) {
                    bench.journal.blacklist.add([JournalBench.entry(number, since: 1)], completion: done)
                } else {
                    let lift = JournalBench.registration(number - 1, 2)
                    bench.journal.blacklist.lift([lift], completion: done)
                }
            }
            try bench.blacklist([])
            try expect("the order", order.withLock { $0 }, is: Array(0..<40))
            try expect("the number: each was lifted", bench.journal.blacklist.count, is: 0)
        },
    ]

    static let closing: [Rule] = [
        Rule("Closing writes what waits; what is called later fails as closed") { bench in
            let lane = try bench.lane()
            let submission = try bench.submission([1], lane: lane)
            let appended = Monitor<Bool?>(nil)
            bench.journal.append(
                submission,
                completion: bench.completion { result in
                    if case .success = result {
                        appended.withLock { $0 = true }
                    } else {
                        appended.withLock { $0 = false }
                    }
                })
            bench.journal.close()
            bench.journal.close()
            try expect("whether what waited was written", appended.withLock { $0 }, is: true)
            let journal = bench.journal
            func isClosed(_ what: String, _ body: () throws -> Void) throws {
                try bench.expectError(.closed, what, body)
            }
            try isClosed("append") { _ = try bench.append(submission) }
            try isClosed("settle") { try bench.acknowledge([UID(1)], lane) }
            try isClosed("promoteDue") { _ = try bench.promote(lane, now: 1) }
            try isClosed("lowerMark") { try bench.lowerMark(lane, to: .none) }
            try isClosed("setReader") { try bench.setReader("app", to: nil) }
            try isClosed("openReader") { _ = try bench.journal.openReader("app", isWaitedFor: false) }
            try isClosed("trim") { _ = try bench.trim(TrimBounds()) }
            try isClosed("openLane") { _ = try journal.openLane(JournalBench.once) }
            try isClosed("openProducer") { _ = try journal.openProducer("late") }
            try isClosed("setNote") { try journal.setNote("late", to: [1]) }
            try isClosed("a read") { _ = try journal.unconfirmed(lane, after: .none, through: .max, limit: 1) }
            try isClosed("the status") { _ = try journal.status() }
            try isClosed("the blacklist's add") { try bench.blacklist([JournalBench.entry(1)]) }
            try isClosed("a read of the blacklist") {
                _ = try journal.blacklist.entries(for: SampleNotification.device(1)).first
            }
            try bench.reopen()
            try expect("entries after reopening", try bench.uids(try bench.lane()), is: [UID(1)])
        },
        Rule("An observer that was taken away is told nothing more") { bench in
            let lane = try bench.lane()
            try bench.append([1], lane: lane)
            bench.journal.endObserving()
            let before = bench.reports.withLock { $0.count }
            try bench.append([2], lane: lane)
            try expect("reports", bench.reports.withLock { $0.count }, is: before)
        },
        Rule("A second observer is refused until the first has ended, which goes on being told") { bench in
            let lane = try bench.lane()
            do throws(JournalError) {
                try bench.journal.observeCommits { _ in }
                throw JournalError(.damaged, "")
            } catch {
                try expect("the code", error.code, is: .inUse)
            }
            let before = bench.reports.withLock { $0.count }
            try bench.append([1], lane: lane)
            try expect("reports", bench.reports.withLock { $0.count } > before, is: true)
            bench.journal.endObserving()
            try bench.journal.observeCommits { _ in }
        },
    ]
}
