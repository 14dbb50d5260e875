import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// Decisions whose loss no other test would notice: each has a fault of its name in Scripts/mutations.
@Suite(.timeLimit(.minutes(1))) struct UnnoticedTests {
    @Test("Housekeeping that failed once is done at the next time") func housekeeping() throws {
        let bench = try Bench {
            $0.rejectionLimit = 1
            $0.housekeeping = .seconds(1)
        }
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "PayloadEmpty") }
        try bench.submit(1..<4)
        bench.settle()
        #expect(bench.journal.rejections.count == 3)
        bench.journal.failWrites(with: JournalError(.diskFull, "the disk is full"))
        bench.advance(by: .seconds(3))
        #expect(bench.journal.rejections.count == 3)
        bench.journal.failWrites(with: nil)
        bench.advance(by: .seconds(3))
        #expect(bench.journal.rejections.count == 1)
    }

    @Test("A route that was denied room for outcomes hears when another gives some back") func deniedRoute() {
        let gate = OutcomeGate(limit: 2)
        #expect(gate.reserve(2, route: 0, inFlight: 0, waiting: 0) == 2)
        #expect(gate.settle(route: 0, inFlight: 2) == [])
        #expect(gate.reserve(1, route: 1, inFlight: 0, waiting: 0) == 0)
        #expect(gate.settle(route: 1, inFlight: 0) == [])
        #expect(gate.settle(route: 0, inFlight: 1) == [1])
        #expect(gate.reserve(1, route: 1, inFlight: 0, waiting: 0) == 1)
        #expect(gate.settle(route: 0, inFlight: 0) == [])
    }

    @Test("An entry that an operator puts into a new lane, before its Consumer hears of commits, goes out")
    func appendedWhileAdded() throws {
        let journal = ForwardingJournal(InMemoryJournal(mode: .manual))
        let first = Route(name: "a", connector: StubConnector(.perNotification), connections: 1)
        let connector = StubConnector(.perNotification)
        let second = Route(name: "b", connector: connector, topics: ["com.example.b"], connections: 1)
        let stage = try Stage([first], journal: journal)
        stage.settle()
        let key = LaneKey(route: "b", urgency: .immediate, guarantee: .atLeastOnce)
        journal.hasOpened = { [unowned journal] opened, opening in
            guard opened == key, opening.lastUID == .none else { return }
            journal.hasOpened = { _, _ in }
            var bytes: [UInt8] = []
            PackedNotification.append(
                Sample.notification(7), id: NotificationID(), expiration: .at(4_000_000_000),
                acceptedAt: stage.clock.wall, producer: "", to: &bytes)
            journal.base.append(
                Submission(
                    producer: ProducerID(rawValue: 1), acceptedAt: stage.clock.wall, bytes: bytes,
                    items: [Submission.Item(lane: opening.id, range: 0..<bytes.count)])
            ) { _ in }
            journal.base.commit()
        }
        stage.reconfigure([first, second])
        stage.settle()
        #expect(stage.sent(connector) == [7])
    }
}
