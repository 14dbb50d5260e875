import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// A sender of the application's own that is told of errors only.
@Suite(.timeLimit(.minutes(1))) struct CumulativeSenderTests {
    /// What the application's sender was called with, and how it behaves.
    private final class Application: Sendable {
        struct Call: Hashable, Sendable {
            let number: Int
            let position: UInt64
        }

        private struct State: Sendable {
            var calls: [Call] = []
            var now = 0
            var mostAtOnce = 0
        }

        let errors = PayloadErrors()
        private let state = Monitor(State())

        var calls: [Call] { state.withLock(\.calls) }
        var numbers: [Int] { calls.map(\.number) }
        var mostAtOnce: Int { state.withLock(\.mostAtOnce) }

        func run(
            _ notification: PushNotification, _ position: UInt64,
            _ body: @Sendable (Call, _ isRepeat: Bool) async throws -> Void
        ) async throws {
            let call = Call(number: Sample.number(of: notification), position: position)
            let isRepeat = state.withLock { state in
                defer { state.calls.append(call) }
                state.now += 1
                state.mostAtOnce = max(state.mostAtOnce, state.now)
                return state.calls.contains { $0.number == call.number }
            }
            defer { state.withLock { $0.now -= 1 } }
            await Task.yield()
            try await body(call, isRepeat)
        }
    }

    private func deliver(
        _ notifications: [PushNotification], quiet: Duration = .seconds(2), deadline: Duration = .seconds(30),
        _ application: Application,
        send: @escaping @Sendable (Application.Call, _ isRepeat: Bool) async throws -> Void = { _, _ in }
    ) async throws -> (engine: PushEngine, journal: InMemoryJournal) {
        var configuration = EngineConfiguration()
        configuration.reconnectMinimum = .milliseconds(1)
        configuration.reconnectMaximum = .milliseconds(2)
        configuration.shutdownLimit = .milliseconds(200)
        configuration.retry = RetrySchedule(minimum: .milliseconds(2), maximum: .milliseconds(4))
        let connector = SenderConnector(
            confirmation: .cumulative(quietPeriod: quiet), payloadErrors: application.errors, deadline: deadline
        ) { notification, position in
            try await application.run(notification, position, send)
        }
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration, logger: logger)
        _ = await engine.producer.submit(notifications)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
            while try await group.next() != nil {}
        }
        return (engine, journal)
    }

    private func notifications(_ numbers: Range<Int>, _ guarantee: Guarantee = .atLeastOnce) -> [PushNotification] {
        numbers.map { Sample.notification($0, guarantee: guarantee) }
    }

    @Test("The order of the calls is the order of submission, one at a time, and silence confirms") func order()
        async throws
    {
        let application = Application()
        let (engine, journal) = try await deliver(notifications(1..<301), application)
        #expect(application.numbers == Array(1..<301))
        #expect(application.calls.map(\.position) == Array(1..<301))
        #expect(application.mostAtOnce == 1)
        #expect(engine.status().confirmedByQuiet == 300)
        #expect(journal.entries.isEmpty)
    }

    @Test("An error that another thread reports: earlier taken, the named one rejected, later ones again, in order")
    func reported() async throws {
        let application = Application()
        let (engine, journal) = try await deliver(notifications(1..<11), application) { call, isRepeat in
            guard call.number == 8, !isRepeat else { return }
            // The answer to 5 comes while 8 is written.
            await Task.detached {
                application.errors.refused(5, SendResult(.rejected(.token), reason: .unregistered))
            }.value
        }
        #expect(application.numbers.prefix(8) == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(application.numbers.dropFirst(8) == [6, 7, 8, 9, 10])
        #expect(journal.rejections.keys.map(\.rawValue) == [5])
        #expect(try engine.blacklist.isBlacklisted(Sample.notification(5).token!) != nil)
        #expect(engine.status().confirmed == 9)
        #expect(engine.status().possibleDuplicates == 0)
    }

    @Test("The last good one is no failure") func lastGood() async throws {
        let application = Application()
        let (engine, journal) = try await deliver(notifications(1..<7), application) { call, isRepeat in
            if call.number == 5, !isRepeat { application.errors.lastGood(3) }
        }
        #expect(application.numbers == [1, 2, 3, 4, 5, 4, 5, 6])
        #expect(engine.status().confirmed == 6)
        #expect(journal.rejections.isEmpty)
    }

    @Test("A connection that closed without a word: unknown, by the guarantee") func closed() async throws {
        let application = Application()
        let mixed = notifications(1..<3) + notifications(3..<5, .atMostOnce)
        let (engine, _) = try await deliver(mixed, application) { _, isRepeat in
            // Whichever of the two lanes was first.
            if application.numbers.count == 4, !isRepeat { application.errors.connectionEnded("reset") }
        }
        #expect(Set(application.numbers.dropFirst(4)) == [1, 2])
        #expect(engine.status().unknown == 2)
        #expect(engine.status().possibleDuplicates == 2)
    }

    struct Broken: Error {}

    @Test("What a call throws makes it unknown; with notSent it was provably not sent") func thrown() async throws {
        let application = Application()
        let (engine, _) = try await deliver(notifications(1..<2, .atMostOnce), application) { _, _ in throw Broken() }
        #expect(engine.status().unknown == 1)
        let other = Application()
        let (second, _) = try await deliver(notifications(1..<4, .atMostOnce), other) { call, isRepeat in
            if call.number == 1, !isRepeat { throw SendFailure.notSent("no route to host") }
        }
        #expect(second.status().confirmed == 3)
        #expect(second.status().unknown == 0)
        #expect(other.numbers.sorted() == [1, 1, 2, 3])
    }

    @Test(
        "A call that does not return by its deadline ends the connection, and it alone and those before it are unknown")
    func deadline() async throws {
        let application = Application()
        let (engine, _) = try await deliver(
            notifications(1..<6, .atMostOnce), deadline: .milliseconds(100), application
        ) { call, isRepeat in
            if call.number == 2, !isRepeat { try await Task.sleep(for: .seconds(3600)) }
        }
        #expect(engine.status().unknown == 2)
        #expect(engine.status().confirmed == 3)
        #expect(application.numbers.count == 5)
    }

    @Test("Calls never overlap, also when one outlives its connection") func neverOverlap() async throws {
        let application = Application()
        let (engine, _) = try await deliver(notifications(1..<6), application) { call, isRepeat in
            guard call.number == 3, !isRepeat else { return }
            application.errors.connectionEnded("reset")
            // Goes on for a while, whatever it is told.
            await Task.detached { try? await Task.sleep(for: .milliseconds(100)) }.value
        }
        #expect(application.mostAtOnce == 1)
        #expect(engine.status().confirmed == 5)
    }

    @Test("An error that is reported late, for a connection that is over, says nothing about the next one")
    func staleError()
        async throws
    {
        let application = Application()
        let (engine, journal) = try await deliver(notifications(1..<6), application) { call, isRepeat in
            if call.number == 5, !isRepeat { application.errors.connectionEnded("reset") }
            // The reader of the old connection comes round to it.
            if call.number == 4, isRepeat {
                application.errors.refused(3, SendResult(.rejected(.notification), reason: .payloadEmpty))
            }
        }
        #expect(Set(application.calls.map(\.position)).count == application.calls.count)
        #expect(journal.rejections.isEmpty)
        #expect(engine.status().confirmed == 5)
    }

    /// Delivers three and ends the engine when they are written, or else when nothing is left.
    private func endWithBarrier(
        confirmation: ConfirmationMode, _ application: Application, waits: Bool = false,
        barrier: @escaping SenderConnector.WriteBarrier
    ) async throws -> (engine: PushEngine, journal: InMemoryJournal) {
        var configuration = EngineConfiguration()
        configuration.shutdownLimit = .milliseconds(500)
        configuration.barrierIdle = .milliseconds(20)
        configuration.reconnectMinimum = .milliseconds(1)
        configuration.reconnectMaximum = .milliseconds(2)
        let connector = SenderConnector(
            confirmation: confirmation, payloadErrors: application.errors, barrier: barrier
        ) { try await application.run($0, $1) { _, _ in } }
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration)
        _ = await engine.producer.submit(notifications(1..<4))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            if waits {
                #expect(await engine.untilIdle() == .drained)
            } else {
                while application.numbers.count < 3 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            group.cancelAll()
        }
        return (engine, journal)
    }

    @Test("A barrier proves at a shutdown what silence has not confirmed yet") func barrierAtShutdown() async throws {
        let application = Application()
        let positions = Monitor<[UInt64]>([])
        let (engine, journal) = try await endWithBarrier(
            confirmation: .cumulative(quietPeriod: .seconds(60)), application
        ) { position in
            positions.withLock { $0.append(position) }
            // Of another connection, or of a notification: neither is the barrier.
            application.errors.barrierRefused(position - 1)
            application.errors.barrierRefused(position + 1)
            application.errors.barrierRefused(position)
        }
        #expect(positions.withLock { $0 } == [4])
        #expect(engine.status().confirmedByBarrier == 3)
        #expect(journal.entries.isEmpty)
    }

    @Test("A barrier that is not refused proves nothing") func barrierUnanswered() async throws {
        let application = Application()
        let (engine, journal) = try await endWithBarrier(
            confirmation: .cumulative(quietPeriod: .seconds(60)), application
        ) { position in
            application.errors.barrierRefused(position - 1)
            application.errors.connectionEnded("reset")
        }
        #expect(engine.status().confirmed == 0)
        #expect(journal.entries.count == 3)
    }

    @Test("Where silence counts for nothing, a barrier follows what was written") func barrierAlone() async throws {
        let application = Application()
        let (engine, journal) = try await endWithBarrier(
            confirmation: .cumulative(quietPeriod: nil), application, waits: true
        ) { position in
            // The answer is read elsewhere, after the call has returned.
            Task.detached { application.errors.barrierRefused(position) }
        }
        #expect(engine.status().confirmedByBarrier == 3)
        #expect(engine.status().possibleDuplicates == 0)
        #expect(application.numbers == [1, 2, 3])
        #expect(journal.entries.isEmpty)
    }

    @Test("A shutdown leaves what silence has not confirmed in the journal") func closing() async throws {
        let application = Application()
        var configuration = EngineConfiguration()
        configuration.shutdownLimit = .milliseconds(50)
        let connector = SenderConnector(
            confirmation: .cumulative(quietPeriod: .seconds(60)), payloadErrors: application.errors
        ) { try await application.run($0, $1) { _, _ in } }
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration)
        _ = await engine.producer.submit(notifications(1..<4))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            while application.numbers.count < 3 {
                try Task.checkCancellation()
                await Task.yield()
            }
            group.cancelAll()
        }
        #expect(journal.entries.count == 3)
        #expect(engine.status().confirmed == 0)
    }
}
