import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Two routes of one topic, one for each of Apple's environments, and tokens that are good in one of them.
@Suite(.timeLimit(.minutes(1))) struct EnvironmentTests {
    private let production = StubConnector(.perNotification, endpoint: "https://production")
    private let sandbox = StubConnector(.perNotification, endpoint: "https://sandbox")
    private let topic = "com.example.app"

    private static let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")

    private func routes(triesOther: Bool = true) -> [Route] {
        [
            Route(
                name: "production", connector: production, topics: [topic], connections: 1, environment: .production,
                triesOtherEnvironment: triesOther),
            Route(
                name: "sandbox", connector: sandbox, topics: [topic], connections: 1, environment: .sandbox,
                triesOtherEnvironment: triesOther),
        ]
    }

    /// - Parameter good: which tokens are good where; all other tokens are bad there.
    private func stage(
        _ journal: InMemoryJournal = InMemoryJournal(mode: .manual), triesOther: Bool = true,
        clock: ManualClock = ManualClock(), change: (inout EngineConfiguration) -> Void = { _ in },
        good: @escaping @Sendable (Int, PushEnvironment) -> Bool
    ) throws -> Stage {
        let sandbox = sandbox
        let stage = try Stage(routes(triesOther: triesOther), journal, clock: clock, change: change)
        stage.prepare = { connection in
            let environment: PushEnvironment = connection.endpoint == sandbox.endpoint ? .sandbox : .production
            connection.state.withLock { state in
                state.answer = { good(Sample.number(of: $0), environment) ? .confirmed : Self.bad }
            }
        }
        return stage
    }

    private func submit(
        _ stage: Stage, _ numbers: some Sequence<Int>, in environment: PushEnvironment? = nil,
        guarantee: Guarantee = .atLeastOnce, registeredAt: WallTime? = nil, deliverAfter: WallTime? = nil
    ) -> [Receipt] {
        let receipts = Monitor<[Receipt]>([])
        let notifications = numbers.map { number in
            var notification = Sample.notification(number, guarantee: guarantee)
            (notification.topic, notification.environment) = (topic, environment)
            (notification.tokenRegisteredAt, notification.deliverAfter) = (registeredAt, deliverAfter)
            return notification
        }
        stage.core.producer.submit(notifications) { done in receipts.withLock { $0 = done } }
        stage.journal.commit()
        return receipts.withLock { $0 }
    }

    private func blacklisted(_ number: Int, _ stage: Stage) throws -> [String] {
        let token = try #require(Sample.notification(number).token)
        return try stage.core.producer.blacklist.entries(for: token).compactMap(\.endpoint).sorted()
    }

    @Test("The environment of a notification chooses its route") func chosen() throws {
        let stage = try stage { _, _ in true }
        _ = submit(stage, [1])
        _ = submit(stage, [2], in: .sandbox)
        _ = submit(stage, [3], in: .production)
        stage.settle()
        #expect(stage.sent(production) == [1, 3] && stage.sent(sandbox) == [2])
    }

    @Test("The default environment can be changed while the engine runs") func changedDefault() throws {
        let stage = try stage { _, _ in true }
        stage.reconfigure(routes()) { $0.defaultEnvironment = .sandbox }
        _ = submit(stage, [1])
        stage.settle()
        #expect(stage.sent(production) == [] && stage.sent(sandbox) == [1])
    }

    /// Number 1 is a token of the sandbox, and 2 of neither; production and sandbox have taken others.
    private func proven(
        _ journal: InMemoryJournal = InMemoryJournal(mode: .manual), triesOther: Bool = true,
        change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Stage {
        let stage = try stage(journal, triesOther: triesOther, change: change) { number, environment in
            switch number {
            case 1: environment == .sandbox
            case 2: false
            default: true
            }
        }
        _ = submit(stage, 100..<140)
        _ = submit(stage, 200..<240, in: .sandbox)
        stage.settle()
        return stage
    }

    @Test("A token that is bad in one environment is tried in the other, and the next goes there at once")
    func otherEnvironment() async throws {
        let stage = try proven()
        let events = stage.core.events.stream(buffering: 1000)
        #expect(submit(stage, [1])[0].uid != nil)
        stage.advance(by: .seconds(60))
        #expect(stage.sent(production).filter { $0 == 1 }.count >= 1 && stage.sent(sandbox).last == 1)
        #expect(stage.status.unconfirmed == 0 && stage.status.confirmed == 81 && stage.status.rejectedTotal == 0)
        #expect(stage.status.moved == 1)
        #expect(try blacklisted(1, stage) == ["https://production"])
        let asked = stage.sent(production).count
        #expect(submit(stage, [1])[0].uid != nil)
        stage.settle()
        #expect(stage.sent(production).count == asked && stage.sent(sandbox).last == 1)
        #expect(stage.status.confirmed == 82)
        // Who names an environment has chosen.
        guard case .refused(let refusal) = submit(stage, [1], in: .production)[0] else {
            Issue.record("it is accepted")
            return
        }
        #expect(refusal.reason == .blacklisted && refusal.blacklistEntry?.endpoint == "https://production")
        stage.core.events.emit(.drained(producer: "the last event"))
        var moved: [EngineEvent] = []
        for await event in events {
            if event == .drained(producer: "the last event") { break }
            if case .movedToOtherEnvironment = event { moved.append(event) }
        }
        #expect(moved == [.movedToOtherEnvironment(stage.lane("production"), count: 1)])
    }

    @Test("Without the choice it is rejected, as ever") func notTried() throws {
        let stage = try proven(triesOther: false)
        _ = submit(stage, [1])
        stage.advance(by: .seconds(60))
        #expect(stage.status.rejectedTotal == 1 && !stage.sent(sandbox).contains(1))
    }

    @Test("A token that is bad in both is rejected once, and both are remembered") func badInBoth() throws {
        let stage = try proven()
        _ = submit(stage, [2])
        stage.advance(by: .seconds(120))
        #expect(stage.status.rejectedTotal == 1 && stage.status.unconfirmed == 0)
        #expect(try blacklisted(2, stage) == ["https://production", "https://sandbox"])
        guard case .refused(let refusal) = submit(stage, [2])[0] else {
            Issue.record("it is accepted")
            return
        }
        #expect(refusal.reason == .blacklisted)
    }

    @Test("That an attempt before may have been taken is counted behind the move, too") func movedAgain() throws {
        let stage = try proven()
        for connection in stage.connections(of: production) { connection.state.withLock { $0.answer = { _ in nil } } }
        _ = submit(stage, [1])
        stage.settle()
        for connection in stage.connections(of: production) { connection.end() }
        stage.advance(by: .seconds(120))
        #expect(stage.sent(production).filter { $0 == 1 }.count == 2 && stage.sent(sandbox).last == 1)
        #expect(stage.status.moved == 1 && stage.status.confirmed == 81)
        #expect(stage.status.possibleDuplicates == 2)
    }

    @Test("What waits for the same token follows it, in either guarantee", arguments: Guarantee.allCases)
    func followers(guarantee: Guarantee) throws {
        let stage = try proven()
        _ = submit(stage, [1, 1, 1, 1, 1], guarantee: guarantee)
        stage.advance(by: .seconds(120))
        #expect(stage.sent(sandbox).filter { $0 == 1 }.count == 5)
        #expect(stage.status.confirmed == 85 && stage.status.rejectedTotal == 0 && stage.status.unconfirmed == 0)
        #expect(stage.status.unknown == 0)
    }

    @Test("An entry changes its environment once: one that no blacklist stops does not go to and fro for ever")
    func once() throws {
        let stage = try proven()
        // Registered later than any answer, as by a clock that is half a day ahead: nothing that is said of its token is
        // believed of the new registration.
        let receipt = submit(stage, [2], registeredAt: stage.clock.wall.advanced(by: .seconds(12 * 3600)))[0]
        #expect(receipt.uid != nil)
        stage.advance(by: .seconds(600))
        #expect(stage.status.rejectedTotal == 1 && stage.status.unconfirmed == 0)
        #expect(stage.sent(production).filter { $0 == 2 }.count <= 2)
        #expect(stage.sent(sandbox).filter { $0 == 2 }.count <= 2)
    }

    @Test("A scheduled one is tried in the other environment at its time, and ends once", arguments: Guarantee.allCases)
    func scheduled(guarantee: Guarantee) throws {
        let stage = try proven { $0.keepsOutcomes = true }
        for count in 1...2 {
            // The second one goes into the lane of the other environment when it is accepted, since its token is known.
            let time = stage.clock.wall.advanced(by: .seconds(120))
            _ = submit(stage, [1], guarantee: guarantee, deliverAfter: time)
            stage.advance(by: .seconds(119))
            #expect(stage.sent(sandbox).filter { $0 == 1 }.count == count - 1 && stage.status.scheduled == 1)
            stage.advance(by: .seconds(61))
            #expect(stage.sent(sandbox).filter { $0 == 1 }.count == count && stage.status.unconfirmed == 0)
        }
        let outcomes = try stage.journal.outcomes(after: .start, limit: 1000).outcomes
        #expect(outcomes.count == 82 && outcomes.allSatisfy { $0.terminal == .confirmed })
    }

    @Test("A wrong environment for all trips the breaker before any entry is moved", arguments: [0, 40])
    func allWrong(provenBy count: Int) throws {
        let stage = try stage { number, environment in number >= 10_000 || environment == .sandbox }
        _ = submit(stage, 10_000..<10_000 + count)
        stage.settle()
        for start in stride(from: 1, to: 2001, by: 500) { _ = submit(stage, start..<start + 500) }
        stage.advance(by: .seconds(600))
        #expect(stage.sent(sandbox) == [])
        #expect(stage.core.producer.blacklist.count == 0)
        #expect(try stage.depth(stage.lane("production")) == 2000)
        #expect(!stage.status.topicsSetAside.isEmpty)
    }

    @Test(
        "A crash at any commit loses none and doubles none: between blacklist and move, and behind the move",
        arguments: Guarantee.allCases)
    func crashes(guarantee: Guarantee) throws {
        for budget in 1..<60 {
            let first = try proven { $0.suspects.hold = .milliseconds(20) }
            let uid = try #require(submit(first, [1], guarantee: guarantee)[0].uid)
            first.budget = budget
            for _ in 0..<100 where first.budget != 0 {
                first.clock.advance(by: .milliseconds(2))
                first.settle()
            }
            let before = first.sent(sandbox).filter { $0 == 1 }.count
            let isDone = first.status.confirmed == 81
            let second = try stage(first.journal.crashed(), clock: first.clock) { number, environment in
                number != 1 || environment == .sandbox
            }
            // Its token is on the blacklist before it leaves the environment in which that is bad.
            if try second.journal.fate(of: uid)?.lane != first.lane("production", guarantee) {
                #expect(try blacklisted(1, second) == ["https://production"], "budget \(budget)")
            }
            // The environments are proven by what goes out beside it.
            _ = submit(second, 300..<310)
            _ = submit(second, 310..<320, in: .sandbox)
            second.advance(by: .seconds(120))
            let after = second.sent(sandbox).filter { $0 == 1 }.count
            let status = try second.journal.status()
            #expect(status.unconfirmed == 0 && status.totals.rejected == 0, "budget \(budget)")
            if guarantee == .atLeastOnce {
                #expect(before + after >= 1 && status.totals.unknown == 0, "budget \(budget)")
                #expect(status.totals.confirmed == 101, "budget \(budget)")
            } else {
                #expect(before + after <= 1, "budget \(budget)")
                #expect(status.totals.confirmed + status.totals.unknown == 101, "budget \(budget)")
            }
            if isDone { return }
        }
        Issue.record("it is never done")
    }

    @Test("A moved entry of one attempt is not taken for sent below the other lane's mark") func belowTheMark() throws {
        let stage = try proven()
        let uid = try #require(submit(stage, [1], guarantee: .atMostOnce)[0].uid)
        // The other lane's mark goes beyond it.
        _ = submit(stage, 300..<310, in: .sandbox, guarantee: .atMostOnce)
        stage.settle()
        let other = try stage.journal.openLane(stage.lane("sandbox", .atMostOnce))
        #expect(other.markAtOpen > uid)
        // It is moved, and the process ends before it goes out.
        stage.connects = false
        for connection in stage.connections(of: sandbox) { connection.end() }
        stage.advance(by: .seconds(30))
        guard case .deferred(let lane, _, _, _)? = try stage.journal.fate(of: uid) else {
            Issue.record("it is not deferred")
            return
        }
        #expect(lane == stage.lane("sandbox", .atMostOnce))
        let next = try self.stage(stage.journal.crashed(), clock: stage.clock) { _, _ in true }
        next.advance(by: .seconds(10))
        #expect(next.sent(sandbox) == [1])
        #expect(try next.journal.status().totals.unknown == 0)
    }

    @Test("A moved entry that is newer than all of the other lane goes out once") func aheadOfTheOther() throws {
        let stage = try stage { number, environment in number != 1 || environment == .sandbox }
        _ = submit(stage, 100..<140)
        stage.settle()
        _ = submit(stage, [1])
        stage.advance(by: .seconds(60))
        _ = submit(stage, 200..<210, in: .sandbox)
        stage.advance(by: .seconds(60))
        #expect(stage.sent(sandbox).sorted() == [1] + Array(200..<210))
        #expect(stage.status.confirmed == 51 && stage.status.unconfirmed == 0)
    }

    @Test("A rejection that is sent again goes to its old environment") func retried() async throws {
        let stage = try stage { _, _ in true }
        stage.prepare = { connection in
            connection.state.withLock { $0.answer = { _ in SendResult(apnsStatus: 413, reason: "PayloadTooLarge") } }
        }
        let uid = try #require(submit(stage, [2], in: .sandbox)[0].uid)
        stage.settle()
        #expect(stage.status.rejectedTotal == 1)
        let desk = EngineDesk(core: stage.core)
        async let retries = desk.retry([uid])
        for _ in 0..<5000 where stage.journal.waitingCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
        stage.journal.commit()
        guard case .accepted(let again)? = try await retries.first?.result else {
            Issue.record("it is refused")
            return
        }
        #expect(try stage.journal.fate(of: again)?.lane == stage.lane("sandbox"))
    }
}
