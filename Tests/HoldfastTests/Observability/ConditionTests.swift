import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct EngineConditionTests {
    private let log = RecordingLog()

    private func bench(
        _ journal: InMemoryJournal = InMemoryJournal(), change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        try Bench(journal, log: log, change: change)
    }

    /// The lines of conditions, in order.
    private var told: [String] { log.lines.filter { $0.metadata["condition"] != nil }.map(\.event) }

    private func line(_ event: String) throws -> RecordingLog.Line {
        try #require(log.lines.last { $0.event == event })
    }

    private func kinds(_ bench: Bench) -> [String] { bench.status.conditions.map(\.kind.rawValue) }

    // MARK: The service

    @Test("A service that is away is told once, and that it answers again, with how long and how many waited")
    func away() throws {
        let bench = try bench()
        bench.accepts = false
        try bench.submit(1..<41)
        bench.settle()
        for _ in 0..<3 {
            bench.refuseConnection(ConnectError(.temporary, "nobody listens"))
            bench.settle()
            bench.advance(by: .seconds(10))
        }
        #expect(told == ["service-away"])
        let condition = try #require(bench.status.conditions.first)
        #expect(condition.kind == .serviceAway && condition.severity == .warning && condition.subject == "default")
        #expect(condition.affected == 40 && condition.failures == 3)
        #expect(condition.command == "holdfast routes connect default")
        bench.accepts = true
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(1))
        #expect(told == ["service-away", "service-away-over"])
        let over = try line("service-away-over")
        #expect(over.metadata["affected"] == "40" && over.metadata["failures"] == "3")
        #expect(over.metadata["lasted-s"].flatMap(Double.init).map { $0 > 29 && $0 < 33 } == true)
        #expect(bench.status.conditions.isEmpty)
    }

    @Test("A service that answers nothing is away, although each connection takes nothing more before it ends")
    func silentButReplaced() throws {
        let bench = try bench()
        try bench.submit(1..<9)
        bench.settle()
        for round in 1...2 {
            bench.advance(by: .seconds(30))
            let old = bench.connection
            old.sink(.draining)
            bench.advance(by: .seconds(1))
            old.end(cause: "it answers no request")
            bench.settle()
            let condition = try #require(bench.status.conditions.first)
            #expect(condition.kind == .serviceAway && condition.affected == 8 && condition.failures == round)
        }
        bench.connection.answerAll()
        bench.settle()
        #expect(told == ["service-away", "service-away-over"] && bench.status.conditions.isEmpty)
    }

    @Test("A service that is away is told with its next try, and a time that has come is not told any more")
    func nextTry() throws {
        let bench = try bench {
            $0.reconnectMinimum = .seconds(5)
            $0.reconnectMaximum = .seconds(5)
        }
        bench.accepts = false
        try bench.submit(1..<3)
        bench.settle()
        bench.refuseConnection(ConnectError(.temporary, "nobody listens"))
        bench.settle()
        let next = try #require(bench.status.conditions.first?.nextTryAt)
        #expect(next > bench.clock.wall && next <= bench.clock.wall.advanced(by: .seconds(10)))
        #expect(try line("service-away").message.contains("(next try at \(Timestamp.format(next)))"))
        // No turn comes before the status is asked for.
        bench.clock.advance(by: .seconds(20))
        let condition = try #require(bench.status.conditions.first)
        #expect(condition.kind == .serviceAway && condition.nextTryAt == nil)
    }

    /// Each of them stops a lane, sets a topic aside, or throttles the route.
    private static let refusals = [
        SendResult(apnsStatus: 400, reason: "TopicDisallowed"),
        SendResult(apnsStatus: 403, reason: "InvalidProviderToken"),
        SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(60)),
    ]

    private func refused(_ answer: SendResult) throws -> Bench {
        let bench = try bench { $0.throttle = ThrottlePolicy() }
        bench.answer = { _ in answer }
        try bench.submit(1..<10)
        bench.settle()
        return bench
    }

    @Test("No lane, topic or throttle is told with a next try that has passed") func noPastTry() throws {
        for answer in Self.refusals {
            let bench = try refused(answer)
            let before = bench.status
            #expect(!tries(before).isEmpty && tries(before).allSatisfy { $0 > bench.clock.wall }, "\(answer)")
            bench.clock.advance(by: .seconds(4000))
            #expect(tries(bench.status) == [], "\(answer)")
        }
    }

    @Test("A next try is told by the clock as it is set now") func nextTryByAnotherClock() throws {
        for answer in Self.refusals {
            let bench = try refused(answer)
            bench.clock.stepWall(by: .seconds(-7200))
            bench.turn()
            bench.settle()
            let latest = bench.clock.wall.advanced(by: .seconds(700))
            #expect(!tries(bench.status).isEmpty && tries(bench.status).allSatisfy { $0 < latest }, "\(answer)")
        }
    }

    @Test("A clock that is set a second time while it is distrusted is told again") func clockSetTwice() throws {
        let bench = try bench()
        try bench.submit(1..<2)
        bench.settle()
        for _ in 0..<2 {
            bench.clock.stepWall(by: .seconds(3600))
            bench.turn()
            bench.settle()
            bench.advance(by: .seconds(90))
        }
        let lines = log.lines.filter { $0.event == "clock-distrusted" }
        #expect(lines.count == 2 && lines.allSatisfy { $0.message.contains("set ahead by") }, "\(lines.map(\.message))")
    }

    private func tries(_ status: EngineStatus) -> [WallTime] {
        let topics = status.topicsSetAside.values.flatMap { $0 }.compactMap(\.nextProbeAt)
        return Array(
            Set(status.lanes.compactMap(\.nextProbeAt) + topics + status.throttled.values.compactMap(\.nextProbeAt)))
    }

    @Test("That connections are open and nothing is answered is told before the deadline, though nothing else happens")
    func silentBeforeTheDeadline() throws {
        let bench = try bench()
        try bench.submit(1..<9)
        bench.settle()
        bench.advance(by: .seconds(9))
        #expect(kinds(bench) == [])
        bench.advance(by: .seconds(2))
        let condition = try #require(bench.status.conditions.first)
        #expect(condition.kind == .serviceAway && condition.severity == .warning)
        #expect(condition.affected == 8 && condition.failures == 0 && condition.command == "holdfast doctor")
        #expect(condition.what.contains("is connected to its push service"))
        bench.connection.answerAll()
        bench.settle()
        #expect(told == ["service-away", "service-away-over"] && bench.status.conditions.isEmpty)
    }

    @Test("A service that answers one request of a connection, and no other, is told as away") func firstOnly() throws {
        let bench = try bench()
        try bench.submit(1..<9)
        bench.settle()
        bench.advance(by: .seconds(3))
        bench.connection.answer(1, .confirmed)
        bench.settle()
        bench.advance(by: .seconds(9))
        #expect(kinds(bench) == [])
        bench.advance(by: .seconds(2))
        #expect(kinds(bench) == ["service-away"])
        #expect(bench.status.conditions.first?.affected == 7)
        bench.connection.answer(2, .confirmed)
        bench.settle()
        #expect(kinds(bench) == ["service-away"])
        bench.connection.answerAll()
        bench.settle()
        #expect(told == ["service-away", "service-away-over"] && kinds(bench) == [])
    }

    @Test("That nothing goes before the limit on new connections allows it is told, with when that is")
    func connectionsLimited() throws {
        let bench = try bench {
            $0.reconnectBurst = 2
            $0.reconnectInterval = .seconds(60)
        }
        bench.capacity = 1
        bench.answer = { _ in .confirmed }
        bench.prepare = { connection in connection.goesAway.withLock { $0 = 1 } }
        try bench.submit(1..<9)
        bench.settle()
        #expect(bench.connections[0].count == 2 && kinds(bench) == [])
        bench.advance(by: .seconds(6))
        #expect(kinds(bench) == ["connections-limited"])
        let condition = try #require(bench.status.conditions.first)
        #expect(condition.severity == .warning && condition.affected == 6)
        let next = try #require(condition.nextTryAt)
        #expect(next > bench.clock.wall && next < bench.clock.wall.advanced(by: .seconds(60)))
        bench.prepare = { _ in }
        bench.advance(by: .seconds(60))
        #expect(bench.status.unconfirmed == 0)
        #expect(told == ["connections-limited", "connections-limited-over"] && kinds(bench) == [])
    }

    @Test("That few go at a time, since one of them may end connections, is told where it lasts") func careful() throws
    {
        let bench = try bench()
        try bench.submit(1..<9)
        bench.settle()
        for _ in 0..<3 {
            bench.connection.end(cause: "reset by the service")
            bench.advance(by: .seconds(1))
        }
        // While nothing is answered, it may be the service.
        #expect(kinds(bench) == ["service-away"])
        bench.connection.answer(1, .confirmed)
        bench.settle()
        bench.advance(by: .seconds(5))
        let condition = try #require(bench.status.conditions.first { $0.kind == .sendingCarefully })
        #expect(condition.affected == 7 && condition.what.contains("notification"))
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.connection.answerAll()
        bench.settle()
        bench.advance(by: .seconds(1))
        #expect(bench.status.unconfirmed == 0 && kinds(bench) == [])
    }

    @Test("An outage that begins soon after another is told when the interval is over, though nothing else happens")
    func awayAgain() throws {
        let bench = try bench()
        bench.accepts = false
        try bench.submit(1..<3)
        bench.settle()
        bench.refuseConnection(ConnectError(.temporary, "nobody listens"))
        bench.settle()
        bench.accepts = true
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(3))
        #expect(told == ["service-away", "service-away-over"])
        bench.accepts = false
        bench.connection.end(possiblySent: [], cause: "reset by the service")
        try bench.submit(3..<53)
        bench.settle()
        bench.refuseConnection(ConnectError(.temporary, "nobody listens"))
        bench.settle()
        #expect(kinds(bench) == ["service-away"] && told.count == 2)
        bench.advance(by: .seconds(70))
        #expect(told == ["service-away", "service-away-over", "service-away"])
        #expect(try line("service-away").metadata["affected"] == "50")
    }

    @Test("A pause soon after another is told when the interval is over, and nothing has to happen for it")
    func pausedAgain() throws {
        let bench = try bench()
        for reason in ["one", "two"] {
            bench.core.pause(bench.lane(), reason: reason)
            bench.settle()
            if reason == "two" { break }
            bench.core.resume(bench.lane())
            bench.settle()
        }
        try bench.core.changePausedTags { (pauses) throws(JournalError) in
            try pauses.pause(Array("sale".utf8), reason: "", at: bench.clock.wall)
        }
        bench.settle()
        try bench.core.changePausedTags { (pauses) throws(JournalError) in pauses.resumeAll() }
        bench.settle()
        try bench.core.changePausedTags { (pauses) throws(JournalError) in
            try pauses.pause(Array("sale".utf8), reason: "", at: bench.clock.wall)
        }
        bench.settle()
        #expect(told == ["lane-paused", "lane-paused-over", "tag-paused", "tag-paused-over"])
        bench.advance(by: .seconds(62))
        #expect(Set(told.dropFirst(4)) == ["lane-paused", "tag-paused"] && told.count == 6)
    }

    @Test("A service that takes connections and answers nothing is away until it answers") func silent() throws {
        let bench = try bench()
        try bench.submit(1..<3)
        bench.settle()
        #expect(kinds(bench) == [])
        bench.connection.end(possiblySent: [1, 2], cause: "no answer to a ping")
        bench.settle()
        bench.advance(by: .seconds(5))
        #expect(kinds(bench) == ["service-away"])
        #expect(bench.isConnectionRequested == false && bench.connections[0].count > 1)
        bench.advance(by: .seconds(60))
        #expect(kinds(bench) == ["service-away"])
        bench.connection.answerAll()
        bench.settle()
        #expect(kinds(bench) == [])
        #expect(told == ["service-away", "service-away-over"])
    }

    @Test("A connection that must be mended is a fault, and no lane is named beside it") func misconfigured() throws {
        let bench = try bench()
        bench.accepts = false
        try bench.submit(1..<3)
        bench.settle()
        bench.refuseConnection(ConnectError(.configuration, "the certificate has expired"))
        bench.settle()
        #expect(bench.status.conditions.map(\.severity) == [.fault])
        #expect(try line("service-away").level == .error)
        #expect(told == ["service-away"])
    }

    @Test("Refused credentials are one condition of the route, and over when others are taken") func credentials()
        throws
    {
        let bench = try bench()
        bench.answer = { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        try bench.submit(1..<4)
        bench.settle()
        #expect(kinds(bench) == ["credentials-refused"])
        #expect(told == ["credentials-refused"])
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.core.resume(bench.lane())
        bench.settle()
        for lane in bench.status.lanes.map(\.key) { bench.core.resume(lane) }
        bench.settle()
        #expect(told == ["credentials-refused", "credentials-refused-over"])
        #expect(try line("credentials-refused-over").metadata["affected"] == "3")
    }

    @Test("Other credentials that are refused as well are the same trouble, which goes on since it began")
    func otherKey() throws {
        let bench = try bench()
        bench.answer = { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        try bench.submit(1..<4)
        bench.settle()
        let since = try #require(bench.status.conditions.first).since
        bench.advance(by: .seconds(3))
        // As after a reload: the lanes run, and nothing was answered yet.
        bench.connection.state.withLock { $0.answer = { _ in nil } }
        for lane in bench.status.lanes.map(\.key) { bench.core.resume(lane) }
        bench.settle()
        #expect(kinds(bench) == ["credentials-refused"])
        #expect(bench.status.conditions.first?.since == since)
        #expect(told == ["credentials-refused"])
    }

    @Test("A topic whose entries are taken back is not set aside any more") func takenBack() throws {
        let bench = try bench()
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "TopicDisallowed") }
        try bench.submit(1..<4)
        bench.settle()
        #expect(kinds(bench) == ["topic-set-aside"])
        #expect(bench.status.conditions.first?.nextTryAt.map { $0 > bench.clock.wall } == true)
        bench.core.withdraw((1...3).map { UID(UInt64($0)) }, from: bench.lane()) { _ in }
        bench.settle()
        bench.advance(by: .seconds(600))
        #expect(bench.status.conditions.isEmpty)
        #expect(told == ["topic-set-aside", "topic-set-aside-over"])
    }

    @Test(
        "A topic counts what waits for it, a throttle what waits for nothing else, and none is told when all is dropped"
    )
    func counts() async throws {
        let bench = try bench { $0.throttle = ThrottlePolicy() }
        bench.answer = { notification in
            notification.topic == "com.example.typo"
                ? SendResult(apnsStatus: 400, reason: "TopicDisallowed")
                : SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(600))
        }
        try bench.submit(
            (1..<3).map { number in
                var notification = Sample.notification(number)
                notification.topic = "com.example.typo"
                return notification
            })
        bench.settle()
        try bench.submit(10..<200)
        bench.settle()
        bench.advance(by: .seconds(1))
        let conditions = try #require(try await EngineDesk(core: bench.core).status().conditions)
        let affected = Dictionary(uniqueKeysWithValues: conditions.map { ($0.kind.rawValue, $0.affected) })
        #expect(affected == ["topic-set-aside": 2, "throttled": 190])
        bench.core.withdraw((3...192).map { UID(UInt64($0)) }, from: bench.lane()) { _ in }
        bench.settle()
        #expect(bench.status.withdrawn == 190 && bench.status.throttled["default"] != nil)
        #expect(kinds(bench) == ["topic-set-aside"])
        bench.core.withdraw([UID(1), UID(2)], from: bench.lane()) { _ in }
        bench.settle()
        #expect(kinds(bench) == [])
        try bench.submit(300..<301)
        bench.settle()
        #expect(kinds(bench) == ["throttled"])
    }

    // MARK: The journal

    @Test("A full journal is told once, however many are refused, and when it takes notifications again") func full()
        throws
    {
        let journal = InMemoryJournal()
        let bench = try bench(journal)
        bench.accepts = false
        try bench.submit(1..<2)
        bench.settle()
        journal.limitEntries(to: 1)
        for number in 2..<501 { try bench.submit(number..<number + 1) }
        // A sender that repeats one and the same.
        for _ in 0..<501 { try bench.submit(600..<601) }
        bench.settle()
        #expect(told == ["journal-full"])
        let condition = try #require(bench.status.conditions.first)
        #expect(condition.kind == .journalFull && condition.severity == .fault)
        journal.limitEntries(to: nil)
        try bench.submit(2000..<2001)
        bench.advance(by: .seconds(7))
        #expect(told == ["journal-full", "journal-full-over"])
        #expect(
            try line("journal-full-over").message.contains(
                "1000 refusals (a notification that is submitted again counts"))
        #expect(kinds(bench) == [])
    }

    @Test("A disk that refuses settlements is told, and when it takes them again") func disk() throws {
        let bench = try bench()
        try bench.submit(1..<11)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.diskFull, "the disk is full"))
        for number in 1..<11 { bench.connection.answer(number, .confirmed) }
        bench.advance(by: .seconds(30))
        #expect(kinds(bench) == ["disk-refusing"])
        #expect(bench.status.conditions.first?.what == "the disk is full")
        bench.journal.failWrites(with: nil)
        bench.advance(by: .seconds(12))
        #expect(told == ["disk-refusing", "disk-refusing-over"])
        #expect(bench.status.unconfirmed == 0)
    }

    @Test("A journal that another host has taken, or a full database, says nothing of this host's disk")
    func otherDisk()
        throws
    {
        let full = JournalError.Advice("make room there", command: "look there")
        for (error, kind) in [
            (JournalError(.ownershipLost, "another host has it"), nil),
            (JournalError(.contradicted, "the database went back"), nil),
            (JournalError(.copyLost, "the copy was deleted"), nil),
            (JournalError(.unreachable, "the database is full", advice: full), "database-away"),
        ] as [(JournalError, String?)] {
            let bench = try bench()
            try bench.submit(1..<11)
            bench.settle()
            bench.journal.failWrites(with: error)
            if kind == nil { try bench.submit(11..<12) }
            for number in 1..<11 { bench.connection.answer(number, .confirmed) }
            bench.advance(by: .seconds(2))
            #expect(kinds(bench) == (kind.map { [$0] } ?? []), "\(error)")
            guard kind != nil else { continue }
            #expect(bench.status.conditions.first?.next == "make room there")
            #expect(bench.status.conditions.first?.command == "look there")
        }
        #expect(!told.contains("disk-refusing"))
    }

    @Test(
        "Where nothing is taken for 15 s, and nothing else says why, that is told until something is")
    func nothingTaken() throws {
        let bench = try bench()
        bench.accepts = false
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<3)
        bench.advance(by: .seconds(14))
        #expect(kinds(bench) == [])
        bench.advance(by: .seconds(2))
        #expect(kinds(bench) == ["nothing-taken"])
        #expect(bench.status.conditions.first?.affected == 2)
        bench.accepts = true
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmed == 2 && kinds(bench) == [])
        #expect(told == ["nothing-taken", "nothing-taken-over"])
    }

    @Test("A small write that succeeds between refusals ends nothing: it is over when nothing was refused for a while")
    func refusesMost() throws {
        let journal = InMemoryJournal()
        let bench = try bench(journal)
        bench.accepts = false
        // That no connection comes about is told besides.
        func ofJournal(_ all: [String]) -> [String] { all.filter { $0.hasPrefix("journal") } }
        for second in 0..<20 {
            journal.limitEntries(to: second)
            for number in 0..<10 { try bench.submit(second * 10 + number + 1..<second * 10 + number + 2) }
            bench.advance(by: .seconds(1))
            #expect(ofJournal(kinds(bench)) == ["journal-full"], "\(second)")
        }
        #expect(ofJournal(told) == ["journal-full"])
        journal.limitEntries(to: nil)
        try bench.submit(1000..<1001)
        bench.advance(by: .seconds(3))
        #expect(ofJournal(kinds(bench)) == ["journal-full"])
        bench.advance(by: .seconds(4))
        #expect(ofJournal(told) == ["journal-full", "journal-full-over"] && ofJournal(kinds(bench)) == [])
    }

    // MARK: Operators

    @Test("What an operator pauses is a notice, and all is well all the same") func pauses() throws {
        let bench = try bench()
        bench.answer = { _ in .confirmed }
        bench.core.pause(bench.lane(), reason: "incident 4711")
        bench.settle()
        try bench.core.changePausedTags { (pauses) throws(JournalError) in
            try pauses.pause(Array("sale".utf8), reason: "too early", at: bench.clock.wall)
        }
        bench.settle()
        #expect(Set(kinds(bench)) == ["lane-paused", "tag-paused"])
        #expect(bench.status.conditions.areHealthy)
        #expect(try line("lane-paused").message.contains("incident 4711"))
        #expect(try line("tag-paused").metadata["command"] == "holdfast tags resume sale")
        bench.core.resume(bench.lane())
        bench.settle()
        try bench.core.changePausedTags { (pauses) throws(JournalError) in pauses.resumeAll() }
        bench.settle()
        #expect(kinds(bench) == [])
        #expect(told.count == 4)
    }

    @Test("What the host finds wrong is listed with the engine's own") func host() throws {
        let bench = try bench()
        let condition = HealthCondition(
            .certificateExpiring, .fault, "certificate", "/c.pem", since: bench.clock.wall, what: "it ends",
            next: "renew it")
        bench.core.observer.conditions.host([condition])
        #expect(bench.status.conditions == [condition])
    }
}
