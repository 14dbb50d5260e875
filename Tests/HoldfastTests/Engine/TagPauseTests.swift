import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Operators pause campaigns by their tags, beside everything else.
@Suite(.timeLimit(.minutes(1))) struct TagPauseTests {
    private static let campaign = Array("spring-sale".utf8)

    private func tagged(
        _ number: Int, _ guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = campaign
    ) -> PushNotification {
        var notification = Sample.notification(number, guarantee: guarantee)
        notification.tag = tag
        return notification
    }

    private func pause(_ bench: Bench, _ tag: [UInt8] = campaign, reason: String = "wrong price") throws {
        let now = bench.clock.wall
        try bench.core.changePausedTags { (pauses) throws(JournalError) in
            try pauses.pause(tag, reason: reason, at: now)
        }
        try heed(bench)
    }

    private func resume(_ bench: Bench, _ tag: [UInt8] = campaign) throws {
        try bench.core.changePausedTags { (pauses) throws(JournalError) in try pauses.resume(tag) }
        try heed(bench)
    }

    private func heed(_ bench: Bench) throws {
        let isHeeded = Monitor(false)
        bench.core.heedPausedTags { isHeeded.withLock { $0 = true } }
        bench.settle()
        try #require(isHeeded.withLock { $0 })
    }

    private func held(_ bench: Bench) throws -> [Int] {
        let desk = JournalDesk(journal: bench.journal)
        return try desk.pausedTags().map(\.held)
    }

    @Test(
        "A paused campaign waits, everything else goes, and it follows in order when it is resumed",
        arguments: Guarantee.allCases)
    func pausesAndResumes(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        try pause(bench)
        try bench.submit((1..<9).map { $0.isMultiple(of: 2) ? tagged($0, guarantee) : Sample.notification($0) })
        bench.settle()
        #expect(bench.sent == [1, 3, 5, 7])
        #expect(bench.status.heldByTag == 4 && bench.status.unconfirmed == 8)
        #expect(try held(bench) == [4])
        #expect(bench.status.deferrals == 0)
        try resume(bench)
        #expect(bench.sent == [1, 3, 5, 7, 2, 4, 6, 8])
        #expect(bench.status.heldByTag == 0 && bench.status.possibleDuplicates == 0)
        for number in 1..<9 { bench.connection.answer(number, .confirmed) }
        bench.settle()
        #expect(bench.status.confirmed == 8 && bench.status.unconfirmed == 0)
    }

    @Test(
        "A resumed campaign follows at the route's rate, also if that was used up just then",
        arguments: Guarantee.allCases)
    func resumesAtTheRate(_ guarantee: Guarantee) throws {
        let bench = try Bench(rate: RateLimit(perSecond: 1, burst: 1))
        bench.answer = { _ in .confirmed }
        try pause(bench)
        try bench.submit((1..<6).map { tagged($0, guarantee) })
        bench.settle()
        try bench.submit([Sample.notification(9)])
        bench.settle()
        #expect(bench.sent == [9])
        try resume(bench)
        bench.advance(by: .seconds(10))
        #expect(bench.sent == [9, 1, 2, 3, 4, 5])
    }

    @Test(
        "What is in flight is answered, and waits if it is to go again; nothing else leaves after the pause is answered"
    )
    func inFlight() throws {
        let bench = try Bench { $0.window = 2 }
        try bench.submit((1..<5).map { tagged($0) })
        bench.settle()
        #expect(bench.sent == [1, 2])
        try pause(bench)
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, .notSent("REFUSED_STREAM"))
        bench.settle()
        #expect(bench.sent == [1, 2])
        #expect(bench.status.confirmed == 1)
        #expect(try held(bench) == [3])
        try resume(bench)
        #expect(bench.sent == [1, 2, 2, 3])
    }

    @Test("A pause outlasts a kill, and so does what waits for it; a resume at rest lets it go")
    func kill() async throws {
        let bench = try Bench()
        try bench.submit([tagged(1), Sample.notification(2)])
        bench.settle()
        #expect(bench.sent == [1, 2])
        try pause(bench)
        try bench.submit([tagged(3)])
        bench.settle()
        // Killed with the first in flight: possibly sent, and held all the same.
        let second = try bench.crashed()
        try second.submit([tagged(4), Sample.notification(5)])
        second.settle()
        #expect(second.sent == [2, 5])
        #expect(second.status.heldByTag == 3)
        let journal = second.journal.crashed()
        let desk = JournalDesk(journal: journal)
        let status = try await desk.status()
        #expect(status.pausedTags.map(\.held) == [3] && status.pausedTags.map(\.reason) == ["wrong price"])
        try await desk.resume(tag: Self.campaign)
        let third = try Bench(journal, clock: second.clock)
        third.settle()
        #expect(third.sent.sorted() == [1, 2, 3, 4, 5])
        #expect(third.status.possibleDuplicates == 3)
        #expect(third.status.heldByTag == 0)
    }

    @Test("A kill between the resume and the last that comes back leaves nothing behind") func killWhileReturning()
        throws
    {
        let bench = try Bench { $0.window = 2 }
        try pause(bench)
        try bench.submit((1..<20).map { tagged($0) })
        bench.settle()
        #expect(bench.status.heldByTag == 19)
        try bench.core.changePausedTags { (pauses) throws(JournalError) in try pauses.resume(Self.campaign) }
        bench.turn()
        let second = try bench.crashed { $0.window = 2 }
        for _ in 0..<40 {
            second.settle()
            for sent in second.connection.takeNew() {
                second.connection.answer(Sample.number(of: sent.notification), .confirmed)
            }
        }
        #expect(second.sent.sorted() == Array(1..<20))
        #expect(second.status.unconfirmed == 0)
    }

    @Test("A tag that is paused anew keeps what comes back from its last pause") func pausedAnew() throws {
        let bench = try Bench()
        try pause(bench)
        try bench.submit((1..<4).map { tagged($0) })
        bench.settle()
        try bench.core.changePausedTags { (pauses) throws(JournalError) in try pauses.resume(Self.campaign) }
        try pause(bench, reason: "again")
        bench.advance(by: .seconds(5))
        #expect(bench.sent == [])
        #expect(try held(bench) == [3])
        try resume(bench)
        #expect(bench.sent == [1, 2, 3])
    }

    @Test("What comes back leaves half of the window to others") func besideOthers() throws {
        let bench = try Bench { $0.window = 10 }
        try pause(bench)
        try bench.submit((1..<101).map { tagged($0) })
        bench.settle()
        try bench.submit(101..<131)
        try bench.core.changePausedTags { (pauses) throws(JournalError) in try pauses.resume(Self.campaign) }
        for _ in 0..<20 {
            bench.settle()
            for sent in bench.connection.takeNew() {
                bench.connection.answer(Sample.number(of: sent.notification), .confirmed)
            }
        }
        let last = try #require(bench.sent.lastIndex { $0 > 100 })
        #expect(last < 80)
        #expect(bench.sent.filter { $0 <= 100 } == Array(1..<101) && bench.sent.filter { $0 > 100 } == Array(101..<131))
    }

    @Test("Other tags, and their places, are left alone") func others() throws {
        let bench = try Bench()
        let other = Array("other".utf8)
        try pause(bench, other)
        try pause(bench)
        try bench.submit([tagged(1), tagged(2, tag: other), tagged(3, tag: Array("spring".utf8)), tagged(4)])
        bench.settle()
        #expect(bench.sent == [3])
        #expect(try held(bench) == [1, 2])
        try resume(bench, other)
        #expect(bench.sent == [3, 2])
        #expect(try held(bench) == [2])
    }

    @Test(
        "Scheduled entries of a paused campaign wait at their time; one that expires meanwhile ends when it is resumed")
    func scheduledAndExpired() throws {
        let bench = try Bench()
        try pause(bench)
        var (later, short) = (tagged(1), tagged(2))
        later.deliverAfter = bench.clock.wall.advanced(by: .seconds(60))
        short.expiration = .at(bench.clock.wall.seconds + 30)
        try bench.submit([later, short])
        bench.settle()
        #expect(bench.status.scheduled == 1)
        bench.advance(by: .seconds(90))
        #expect(bench.sent == [] && bench.status.heldByTag == 2 && bench.status.scheduled == 0)
        try resume(bench)
        #expect(bench.sent == [1] && bench.status.expired == 1)
    }

    @Test("Held entries can be taken back") func withdrawn() throws {
        let bench = try Bench()
        try pause(bench)
        let receipts = try bench.submit((1..<4).map { tagged($0) })
        bench.settle()
        bench.core.withdraw(receipts.prefix(2).compactMap(\.uid), from: bench.lane()) { _ in }
        bench.settle()
        #expect(bench.status.withdrawn == 2)
        #expect(try held(bench) == [1])
        try resume(bench)
        #expect(bench.sent == [3])
    }

    @Test("A campaign that is taken back while its pause puts it aside does not go out when it is resumed")
    func withdrawnMeanwhile() throws {
        let journal = HeldJournal(InMemoryJournal())
        let bench = try Bench(journal.base, through: journal)
        try pause(bench)
        journal.holdsSettlement = { $0.defers }
        let receipts = try bench.submit((1..<4).map { tagged($0) })
        bench.settle()
        let result = Monitor<Withdrawal?>(nil)
        bench.core.withdraw(receipts.compactMap(\.uid), from: bench.lane()) { done in
            result.withLock { $0 = try? done.get() }
        }
        bench.settle()
        #expect(try held(bench) == [0] && result.withLock { $0 } == nil)
        journal.releaseSettlements()
        bench.settle()
        #expect(result.withLock { $0 } == Withdrawal(withdrawn: 3, unknown: 0, gone: 0))
        #expect(try held(bench) == [0])
        try resume(bench)
        bench.advance(by: .seconds(3600))
        #expect(bench.sent == [] && bench.status.unconfirmed == 0)
    }

    /// What the conditions say that tags hold up: of the engine, and of its desk, which walks over the entries.
    private func affected(_ bench: Bench) async throws -> [[Int]] {
        func counts(_ conditions: [HealthCondition]?) -> [Int] {
            (conditions ?? []).filter { $0.kind == .tagPaused }.sorted { $0.subject < $1.subject }.map(\.affected)
        }
        let desk = try await EngineDesk(core: bench.core).status()
        return [counts(bench.status.conditions), counts(desk.conditions)]
    }

    @Test("What a pause holds up is said as it is now: while a campaign comes in, and when it is taken back")
    func counted() async throws {
        let bench = try Bench()
        try pause(bench)
        #expect(try await affected(bench) == [[0], [0]])
        // All within the second between two looks at what is wrong.
        var receipts: [Receipt] = []
        for number in 1..<4 {
            receipts += try bench.submit([tagged(number)])
            bench.settle()
            #expect(try await affected(bench) == [[number], [number]])
        }
        bench.core.withdraw(receipts.prefix(2).compactMap(\.uid), from: bench.lane()) { _ in }
        bench.settle()
        #expect(try await affected(bench) == [[1], [1]])
        // Of two, only a walk tells which holds what.
        try pause(bench, Array("winter".utf8))
        try bench.submit([tagged(4, tag: Array("winter".utf8)), tagged(5, tag: Array("winter".utf8))])
        bench.settle()
        #expect(try await affected(bench) == [[0, 0], [1, 2]])
        try resume(bench)
        #expect(try await affected(bench) == [[2], [2]])
    }

    @Test("The engine is idle when all that is left waits for a paused tag, and says which") func idle() async throws {
        let bench = try Bench()
        try pause(bench)
        try bench.submit([tagged(1)])
        bench.settle()
        #expect(bench.core.consumer(0).rest == .stopped(#"tag "spring-sale" is paused: wrong price"#))
        try resume(bench)
        #expect(bench.core.consumer(0).rest == nil)
    }

    @Test("A million of them cost no window: reading goes on behind them") func window() throws {
        let bench = try Bench { $0.window = 3 }
        try pause(bench)
        try bench.submit((1..<200).map { tagged($0) } + [Sample.notification(200)])
        bench.settle()
        #expect(bench.sent == [200])
        #expect(bench.status.heldByTag == 199 && bench.status.inFlight == 1)
    }

    @Test("A record of the paused tags that can't be read lets no engine begin, and says what to do") func damaged()
        async throws
    {
        let journal = InMemoryJournal(mode: .manual)
        try journal.setNote(TagPauses.noteName, to: [9, 9])
        let error = #expect(throws: JournalError.self) { _ = try Bench(journal) }
        #expect(error?.code == .damaged && error?.message.contains("holdfast tags resume --all") == true)
        try await JournalDesk(journal: journal).resumeAllTags()
        _ = try Bench(journal)
    }
}

/// The list of paused tags, as the journal keeps it.
@Suite struct TagPausesTests {
    private let now = WallTime(seconds: 1_800_000_000)

    @Test("The note has all of it") func note() throws {
        var pauses = TagPauses()
        try pauses.pause([1, 0, 255], reason: "é", at: now)
        try pauses.pause(Array("b".utf8), reason: "", at: now.advanced(by: .seconds(1)))
        #expect(try TagPauses(note: pauses.note) == pauses)
        #expect(pauses.pause(of: [1, 0, 255])?.reason == "é" && pauses.pause(of: [1]) == nil)
        for count in pauses.note.indices {
            #expect(throws: JournalError.self) { _ = try TagPauses(note: Array(pauses.note.prefix(count))) }
        }
    }

    @Test("A pause has a place of its own, also after others, and after a lost record") func places() throws {
        var pauses = TagPauses()
        try pauses.pause([1], reason: "", at: now)
        let first = pauses.all[0].place
        try pauses.resume([1])
        try pauses.pause([1], reason: "", at: now)
        #expect(pauses.all[0].place != first)
        var fresh = TagPauses()
        try fresh.pause([2], reason: "", at: now.advanced(by: .seconds(10)))
        #expect(fresh.all[0].place != first && fresh.all[0].place != pauses.all[0].place)
        #expect(
            fresh.all[0].place.isPlaceOfTag && !fresh.all[0].place.isPlaceOfTopic && !fresh.all[0].place.isScheduled)
    }

    @Test("A tag that is paused already stays so, for the new reason") func again() throws {
        var pauses = TagPauses()
        try pauses.pause([1], reason: "a", at: now)
        let before = pauses.all[0]
        try pauses.pause([1], reason: "b", at: now.advanced(by: .seconds(9)))
        #expect(pauses.all.map(\.reason) == ["b"] && pauses.all[0].since == now && pauses.all[0].place == before.place)
    }

    @Test("What can't be done says why") func refused() throws {
        var pauses = TagPauses()
        for number in 0..<TagPauses.limit { try pauses.pause([1, UInt8(number)], reason: "", at: now) }
        for tag in [[], [UInt8](repeating: 1, count: 257), [9]] {
            let error = #expect(throws: JournalError.self) { try pauses.pause(tag, reason: "", at: now) }
            #expect(error?.code == .invalidEntry)
        }
        let error = #expect(throws: JournalError.self) { try pauses.resume([9]) }
        #expect(error?.code == .notFound)
        try pauses.pause([1, 1], reason: String(repeating: "é", count: 2000), at: now)
        #expect(pauses.pause(of: [1, 1])?.reason.utf8.count == LaneState.longestReason)
    }
}
