import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// What one Consumer has not done when its lanes go to the next, or to the next process.
@Suite(.timeLimit(.minutes(1))) struct HandoverTests {
    private func order(_ uid: UInt64, _ told: Monitor<[UInt64]>) -> WithdrawalOrder {
        WithdrawalOrder(lane: LaneID(rawValue: 1), uids: [UID(uid)]) { _ in told.withLock { $0.append(uid) } }
    }

    @Test("What waits for the word of a promotion to be taken back is taken back by whoever goes on")
    func withdrawalInWaiting() throws {
        let journal = HeldJournal(InMemoryJournal(mode: .manual))
        let (first, second) = (StubConnector(.perNotification), StubConnector(.perNotification))
        let stage = try Stage([Route(name: "a", connector: first, connections: 1)], journal: journal)
        stage.submit(1..<3)
        stage.settle()
        stage.connections(of: first)[0].answer(1, .unknown("no answer"))
        stage.connections(of: first)[0].answer(2, .confirmed)
        stage.settle()
        journal.isHolding = true
        stage.advance(by: .seconds(1800))
        let answer = Monitor<Withdrawal?>(nil)
        stage.core.withdraw([UID(1)], from: stage.lane("a")) { result in
            answer.withLock { $0 = try? result.get() }
        }
        stage.settle()
        #expect(answer.withLock { $0 } == nil)
        stage.reconfigure([Route(name: "a", connector: second, connections: 1)])
        stage.settle()
        journal.release()
        stage.settle()
        #expect(stage.reports.map(\.replaced) == [["a"]])
        #expect(answer.withLock { $0 } == Withdrawal(withdrawn: 0, unknown: 1, gone: 0))
        #expect(stage.sent(second).isEmpty)
    }

    @Test("What an operator asks of a Consumer that has ended goes to the one that took its lanes over, behind its own")
    func withdrawalLeft() {
        let told = Monitor<[UInt64]>([])
        var successor = ConsumerInbox()
        successor.withdrawals = [order(1, told)]
        var left = ConsumerInbox()
        left.withdrawals = [order(2, told), order(3, told)]
        successor.takeOver(left)
        #expect(!successor.isEmpty)
        for order in successor.withdrawals { order.completion(.success(Withdrawal(gone: 1))) }
        #expect(told.withLock { $0 } == [1, 2, 3])
    }

    @Test("What goes back among the deferred at an orderly end stays possibly sent") func deferredAgain() throws {
        let before = try Bench()
        try before.submit(1..<21)
        before.settle()
        before.connection.answer(1, SendResult(apnsStatus: 429, reason: "TooManyRequests"))
        before.settle()
        let bench = try before.crashed { $0.window = 1 }
        bench.settle()
        #expect(bench.sent == [2])
        bench.advance(by: .seconds(1800))
        bench.connection.answer(2, .confirmed)
        bench.settle()
        #expect(bench.sent == [2, 1])
        #expect(bench.journal.entries.first?.isFlaggedPossiblySent == false)
        // Its connection ends without a word of it, and nobody reads on: so it lies where it was, among what an earlier
        // process may have sent.
        bench.accepts = false
        bench.connection.end(cause: "reset")
        bench.settle()
        bench.core.shutDown()
        bench.settle()
        #expect(bench.core.end(of: 0) != nil)
        let left = try #require(bench.journal.entries.first)
        #expect(left.uid == UID(1))
        #expect(left.deferredUntil != nil)
        #expect(left.isFlaggedPossiblySent)
    }
}
