import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// Deferred entries come back to a lane that is being read.
@Suite struct PromotionTests {
    /// An engine with one route on a journal that holds the word of promotions back.
    private final class Rig {
        let base = InMemoryJournal(mode: .manual)
        let journal: HeldJournal
        let clock = ManualClock()
        let core: EngineCore
        let connection: StubConnection
        let guarantee: Guarantee

        init(_ guarantee: Guarantee, window: Int = 4, backlog: Range<Int> = 1..<9, log: RecordingLog? = nil) throws {
            self.guarantee = guarantee
            let clock = clock
            let base = base
            journal = HeldJournal(base)
            var configuration = EngineConfiguration()
            configuration.window = window
            var logger = log?.logger() ?? Logger(label: "test")
            if log == nil { logger.logLevel = .critical }
            let requests = Monitor<[Int]>([])
            core = try EngineCore(
                journal: journal,
                routes: [Route(name: "default", connector: StubConnector(.perNotification), connections: 1)],
                configuration: configuration,
                clock: EngineClock(wall: { clock.wall }, monotonic: { clock.monotonic }), logger: logger, seed: 1,
                requestConnection: { _, number in requests.withLock { $0.append(number) } })
            core.start(route: 0)
            // A backlog, so that the reading is behind.
            core.producer.submit(backlog.map { Sample.notification($0, guarantee: guarantee) }) { _ in }
            base.commit()
            _ = core.turn(route: 0)
            let number = requests.withLock { $0[0] }
            connection = StubConnection(
                number: number, sink: core.sink(route: 0, connection: number), capacity: 1000, isCumulative: false,
                canWriteBarrier: true)
            core.connected(route: 0, connection: number, .success(connection))
            turns(3)
        }

        func turns(_ count: Int) {
            for _ in 0..<count {
                _ = core.turn(route: 0)
                base.commit()
            }
        }

        /// Puts an entry of another journal into this one, deferred there and due.
        func importDue(_ number: Int) throws {
            let key = LaneKey(route: "default", urgency: .immediate, guarantee: guarantee)
            let lane = try base.openLane(key).id
            var bytes: [UInt8] = []
            PackedNotification.append(
                Sample.notification(number, guarantee: guarantee), id: NotificationID(), expiration: .at(4_000_000_000),
                acceptedAt: clock.wall, producer: "", to: &bytes)
            let submission = Submission(
                producer: try base.openProducer("default"), acceptedAt: clock.wall, bytes: bytes,
                items: [Submission.Item(lane: lane, range: 0..<bytes.count)],
                histories: [(0, EntryHistory(place: .deferred(until: clock.wall)))])
            base.append(submission) { _ in }
            base.commit()
        }

        func answer(below number: Int) {
            connection.sink(
                .confirmed(connection.sent.filter { Sample.number(of: $0.notification) < number }.map(\.ticket)))
        }

        /// Turns after each of which the backlog's notifications are answered, and what was imported is not.
        func work(_ count: Int) {
            for _ in 0..<count {
                turns(1)
                answer(below: 100)
            }
        }

        func count(of number: Int) -> Int { connection.numbers.count { $0 == number } }
    }

    @Test(
        "A promoted entry that lies ahead of the reading goes once, however late the promotion is heard of",
        arguments: Guarantee.allCases)
    func promotedOnce(_ guarantee: Guarantee) throws {
        let rig = try Rig(guarantee)
        try rig.importDue(100)
        rig.journal.isHolding = true
        rig.core.consumers[0].post { $0.hasRestored = true }
        rig.work(12)
        // The promotion is on disk; while nobody has heard of it, nothing that it may have written is read.
        #expect(rig.count(of: 100) == 0)
        rig.journal.release()
        rig.work(6)
        #expect(rig.count(of: 100) == 1)
        #expect(rig.core.status().possibleDuplicates == 0)
    }

    @Test("What lies ahead goes between promotions that follow each other without a gap")
    func readingBetweenPromotions() throws {
        let rig = try Rig(.atLeastOnce, window: 10, backlog: 1..<91)
        for number in 1000..<1020 { try rig.importDue(number) }
        let before = rig.connection.numbers.count
        // Each turn brings the word of one promotion, and another one is due.
        rig.journal.promotionLimit = 1
        rig.core.consumers[0].post { $0.hasRestored = true }
        rig.work(10)
        #expect(rig.connection.numbers.count > before + 25)
    }

    @Test("An import is held to lie ahead of the reading before its first entry can be read") func importIsAnnounced()
        async throws
    {
        let rig = try Rig(.atLeastOnce)
        let lane = try #require(rig.core.consumers[0].lanes.first)
        #expect(!lane.machine.mayHaveDeferredAhead)
        let entry = RestoredEntry(
            lane: lane.key, producer: "default", notification: Sample.notification(100), acceptedAt: rig.clock.wall,
            history: EntryHistory(place: .deferred(until: rig.clock.wall)))
        let desk = EngineDesk(core: rig.core)
        async let restored = desk.restore([entry], note: nil)
        let before = lane.machine.lastUID
        while rig.core.consumers[0].lanes[0].machine.lastUID == before {
            await Task.yield()
            rig.base.commit()
            _ = rig.core.turn(route: 0)
            let now = rig.core.consumers[0].lanes[0]
            #expect(now.machine.lastUID == before || now.machine.mayHaveDeferredAhead)
        }
        #expect(try await restored.count == 1)
        rig.work(8)
        #expect(rig.count(of: 100) == 1)
        #expect(!rig.core.consumers[0].lanes[0].machine.mayHaveDeferredAhead)
    }

    @Test("The last door refuses what is in flight, whoever asks, and says so once", arguments: Guarantee.allCases)
    func lastDoor(_ guarantee: Guarantee) throws {
        let log = RecordingLog()
        let rig = try Rig(guarantee, window: 100, backlog: 1..<5, log: log)
        #expect(rig.connection.numbers == [1, 2, 3, 4])
        let consumer = rig.core.consumers[0]
        let lane = try #require(consumer.lanes.firstIndex { $0.key.guarantee == guarantee })
        // A fault somewhere else: entries that are with the connection are to go again.
        consumer.lanes[lane].machine.requeue(rig.connection.sent.map { .init(uid: $0.uid, possiblySent: false) })
        rig.core.producer.submit([Sample.notification(5, guarantee: guarantee)]) { _ in }
        rig.base.commit()
        rig.turns(6)
        #expect(rig.connection.numbers == [1, 2, 3, 4, 5])
        #expect(rig.core.status().secondHandOuts == 4)
        #expect(log.lines(.secondHandOut).count == 1)
        rig.answer(below: 100)
        rig.turns(3)
        #expect(rig.core.status().confirmed == 5)
    }
}
