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

    @Test("An entry is in flight when it is itself asked for, and not when those around it are") func amongGaps() {
        var window = SentWindow()
        let ticket = window.handOut(flight(5))
        _ = window.handOut(flight(9))
        #expect(window.inFlight(lane: 0, among: [3, 7, 9].map { UID($0) }) == [UID(9)])
        #expect(window.inFlight(lane: 0, among: [3, 7].map { UID($0) }).isEmpty)
        #expect(window.inFlight(lane: 0, among: [UID(5)]) == [UID(5)])
        #expect(window.inFlight(lane: 1, among: [UID(5)]).isEmpty)
        // Until its settlement is durable.
        _ = window.answer(ticket)
        #expect(window.inFlight(lane: 0, among: [UID(5)]) == [UID(5)])
        window.release(ticket)
        #expect(window.inFlight(lane: 0, among: [UID(5)]).isEmpty)
    }

    @Test("Releasing before an answer frees nothing") func earlyRelease() {
        var window = SentWindow()
        let ticket = window.handOut(flight(1))
        window.release(ticket)
        #expect(window.count == 1)
    }

    @Test("The answer about an entry that was taken back counts for nothing, and frees its place") func disowned() {
        var window = SentWindow()
        let ticket = window.handOut(flight(1))
        window.look(now: .seconds(3), turn: 3)
        #expect(window.timeOut(lane: 0, UID(1)) == .seconds(3))
        window.disown(lane: 0, UID(1))
        #expect(window.timeOut(lane: 0, UID(1)) == nil)
        #expect(window.count == 1)
        #expect(window.unansweredTickets() == [ticket])
        window.withdrawn(lane: 0, UID(1))
        #expect(window.count == 1)
        #expect(window.answer(ticket) == nil)
        #expect((window.count, window.unanswered) == (0, 0))
        #expect(window.answer(ticket) == nil)
    }

    @Test("Answered before its taking back is on disk, it keeps its place until then") func disownedAndAnswered() {
        var window = SentWindow()
        let ticket = window.handOut(flight(1))
        window.disown(lane: 0, UID(1))
        #expect(window.answer(ticket) == nil)
        #expect((window.count, window.unanswered) == (1, 0))
        window.withdrawn(lane: 0, UID(1))
        #expect(window.count == 0)
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
