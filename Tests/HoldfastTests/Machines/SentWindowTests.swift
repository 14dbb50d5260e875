import Testing

@testable import Holdfast

@Suite struct SentWindowTests {
    private func flight(_ uid: UInt64) -> SentWindow.Flight {
        SentWindow.Flight(
            lane: 0, uid: UID(uid), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
            acceptedAt: WallTime(seconds: 0))
    }

    @Test("An entry counts until its settlement is durable, not until its answer") func countsUntilDurable() {
        var window = SentWindow()
        let ticket = window.handOut(flight(1))
        #expect(window.answer(ticket)?.uid == UID(1))
        #expect((window.unanswered, window.count) == (0, 1))
        window.release(ticket)
        #expect(window.count == 0)
    }

    @Test("The first answer counts, and a late one for a slot used again finds nothing") func lateAnswers() {
        var window = SentWindow()
        let first = window.handOut(flight(1))
        #expect(window.answer(first) != nil)
        #expect(window.answer(first) == nil)
        window.release(first)
        let second = window.handOut(flight(2))
        #expect(window.answer(first) == nil)
        #expect(window.answer(second)?.uid == UID(2))
        window.release(first)
        #expect(window.count == 1)
    }

    @Test("Releasing before an answer frees nothing") func earlyRelease() {
        var window = SentWindow()
        let ticket = window.handOut(flight(1))
        window.release(ticket)
        #expect(window.count == 1)
    }

    @Test("A ticket that was never given out is harmless") func foreignTicket() {
        var window = SentWindow()
        #expect(window.answer(Ticket(rawValue: 77)) == nil)
        window.release(Ticket(rawValue: .max))
        #expect(window.count == 0)
    }

    @Test("Random operations agree with a dictionary", arguments: 0..<50 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        var window = SentWindow()
        var model: [Ticket: (uid: UID, answered: Bool)] = [:]
        for step in 1...500 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                model[window.handOut(flight(UInt64(step)))] = (UID(UInt64(step)), false)
            case 2:
                guard let (ticket, entry) = model.randomElement(using: &random) else { continue }
                #expect(window.answer(ticket)?.uid == (entry.answered ? nil : entry.uid), "seed \(seed)")
                model[ticket] = (entry.uid, true)
            default:
                guard let (ticket, entry) = model.randomElement(using: &random) else { continue }
                window.release(ticket)
                if entry.answered { model[ticket] = nil }
            }
            #expect(window.count == model.count, "seed \(seed)")
            #expect(window.unanswered == model.values.count { !$0.answered }, "seed \(seed)")
        }
        let left = model.filter { !$0.value.answered }.map(\.value.uid).sorted()
        #expect(window.unansweredTickets().compactMap { window.answer($0)?.uid } == left, "seed \(seed)")
    }
}

@Suite struct LaneStateMachineTests {
    private func lane(_ guarantee: Guarantee, mark: UInt64 = 0, last: UInt64 = 0) -> LaneStateMachine {
        LaneStateMachine(
            key: LaneKey(route: "r", urgency: .immediate, guarantee: guarantee),
            opening: LaneOpening(id: LaneID(rawValue: 0), markAtOpen: UID(mark), lastUID: UID(last)), lookahead: 10)
    }

    @Test("Nothing goes out before the mark covers it") func markFirst() {
        var lane = lane(.atLeastOnce, last: 100)
        #expect(lane.nextStep(limit: 5) == .peek(after: UID(0)))
        #expect(lane.raise(through: UID(7)) == UID(17))
        #expect(lane.raise(through: UID(7)) == nil)
        lane.committed(lastUID: UID(100), mark: UID(17))
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(17)))
    }

    @Test("At most once, the mark rises exactly to what goes out") func exactMark() {
        var lane = lane(.atMostOnce, last: 100)
        #expect(lane.raiseAhead() == nil)
        #expect(lane.raise(through: UID(3)) == UID(3))
        lane.committed(lastUID: UID(100), mark: UID(3))
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(3)))
        lane.advance(to: UID(3))
        #expect(lane.nextStep(limit: 5) == .peek(after: UID(3)))
    }

    @Test("The mark stays one to two lookaheads before the reading") func ahead() {
        var lane = lane(.atLeastOnce, last: 1000)
        #expect(lane.raiseAhead() == UID(20))
        #expect(lane.raiseAhead() == nil)
        lane.committed(lastUID: UID(1000), mark: UID(20))
        lane.advance(to: UID(10))
        #expect(lane.raiseAhead() == nil)
        lane.advance(to: UID(11))
        #expect(lane.raiseAhead() == UID(31))
    }

    @Test("What goes again goes first, in order, and once") func requeue() {
        var lane = lane(.atLeastOnce, mark: 50, last: 50)
        lane.advance(to: UID(50))
        lane.requeue([.init(uid: UID(9), possiblySent: true), .init(uid: UID(7), possiblySent: false)])
        lane.requeue([.init(uid: UID(9), possiblySent: false), .init(uid: UID(8), possiblySent: false)])
        guard case .readAgain(let again) = lane.nextStep(limit: 2) else {
            Issue.record("expected readAgain")
            return
        }
        #expect(again.map(\.uid) == [UID(7), UID(8)])
        lane.takeAgain(again)
        #expect(lane.nextStep(limit: 2) == .readAgain([.init(uid: UID(9), possiblySent: true)]))
    }

    @Test("A stopped lane gives nothing and asks for nothing, and goes on where it was") func stop() {
        var lane = lane(.atLeastOnce, mark: 50, last: 50)
        lane.stop("no key")
        #expect(lane.nextStep(limit: 5) == .none)
        #expect(lane.raiseAhead() == nil)
        lane.resume()
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(50)))
    }
}

@Suite struct ScheduleTests {
    @Test("Backoff doubles up to its maximum, with full jitter and never a busy loop") func backoff() {
        let retry = RetrySchedule(minimum: .seconds(1), maximum: .seconds(60))
        #expect(retry.delay(attempt: 1, random: 0.999) < .seconds(1))
        #expect(retry.delay(attempt: 1, random: 0) == .milliseconds(500))
        #expect(retry.delay(attempt: 4, random: 0.5) == .seconds(4))
        #expect(retry.delay(attempt: 1000, random: 0.999) < .seconds(60))
    }

    @Test("Retry-After is the least delay, up to the maximum") func retryAfter() {
        let retry = RetrySchedule(minimum: .seconds(1), maximum: .seconds(60))
        #expect(retry.delay(attempt: 1, retryAfter: .seconds(30), random: 0) == .seconds(30))
        #expect(retry.delay(attempt: 1, retryAfter: .seconds(3000), random: 0.5) == .seconds(60))
    }

    @Test("A connection that worked makes the next one come at once") func reconnect() {
        var schedule = ReconnectSchedule(minimum: .seconds(1), maximum: .seconds(8))
        #expect(schedule.failed(random: 0.5) == .milliseconds(500))
        #expect(schedule.failed(random: 0.5) == .seconds(1))
        for _ in 0..<100 { _ = schedule.failed(random: 0.5) }
        #expect(schedule.failed(random: 0.5) == .seconds(4))
        schedule.worked()
        #expect(schedule.failed(random: 0.5) == .milliseconds(500))
    }
}
