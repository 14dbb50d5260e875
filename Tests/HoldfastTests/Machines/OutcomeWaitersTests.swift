import Testing

@testable import Holdfast

@Suite("Who waits for outcomes") struct OutcomeWaitersTests {
    private func page(_ range: ClosedRange<UInt64>) -> OutcomePage {
        let outcomes = range.map { number in
            Outcome(
                cursor: OutcomeCursor(number), uid: UID(number), terminal: .confirmed,
                history: DeliveryHistory(
                    acceptedAt: WallTime(milliseconds: 0), settledAt: WallTime(milliseconds: 1), attempts: 1),
                id: NotificationID(high: 0, low: number), recipient: Sample.notification(1).recipient, topic: "t")
        }
        return OutcomePage(outcomes: outcomes, end: OutcomeCursor(range.upperBound))
    }

    @Test("Nothing is read while nobody waits") func idle() {
        var waiters = OutcomeWaiters()
        #expect(!waiters.grown(to: OutcomeCursor(5)) && waiters.nextRead == nil)
        let (watch, starts) = waiters.begin(at: OutcomeCursor(5))
        #expect(starts)
        #expect(waiters.grown(to: OutcomeCursor(6)) && waiters.nextRead == OutcomeCursor(5))
        waiters.end(watch)
        #expect(waiters.nextRead == nil)
        #expect(!waiters.begin(at: OutcomeCursor(6)).starts)
    }

    @Test("What ends between the submission and the waiting is told") func endedEarly() {
        var waiters = OutcomeWaiters()
        let (watch, _) = waiters.begin(at: .start)
        _ = waiters.grown(to: OutcomeCursor(3))
        #expect(waiters.take(page(1...3)).isEmpty)
        #expect(waiters.await(UID(2)) { _ in }.1?.uid == UID(2))
        waiters.end(watch)
        #expect(waiters.await(UID(3)) { _ in }.1 == nil)
    }

    @Test("Only what ended since the oldest watch is remembered") func bounded() {
        var waiters = OutcomeWaiters()
        var watch = waiters.begin(at: .start).0
        for round in 0..<100 as Range<UInt64> {
            let first = round * 10 + 1
            _ = waiters.grown(to: OutcomeCursor(first + 9))
            _ = waiters.take(page(first...first + 9))
            let next = waiters.begin(at: OutcomeCursor(first + 9)).0
            waiters.end(watch)
            watch = next
        }
        #expect(waiters.rememberedCount == 0)
    }

    @Test("Each waiter is told once, one that is forgotten never, and at the end the rest are told of the end")
    func told() {
        var waiters = OutcomeWaiters()
        let (watch, _) = waiters.begin(at: .start)
        _ = waiters.await(UID(1)) { _ in }
        _ = waiters.await(UID(1)) { _ in }
        let (forgotten, _, _) = waiters.await(UID(2)) { _ in }
        _ = waiters.await(UID(9)) { _ in }
        waiters.forget(UID(2), forgotten)
        waiters.end(watch)
        _ = waiters.grown(to: OutcomeCursor(3))
        #expect(waiters.take(page(1...3)).map(\.1.uid) == [UID(1), UID(1)])
        #expect(waiters.endAll().count == 1)
        #expect(waiters.await(UID(4)) { _ in }.hasEnded)
    }
}
