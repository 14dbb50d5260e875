import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A sender that lost its answer asks again, and by then time, blacklist or routes may have changed.
@Suite("Repeats of what would be refused by now", .timeLimit(.minutes(1))) struct RefusedRepeatTests {
    private func withID(_ number: Int, _ change: (inout PushNotification) -> Void = { _ in }) -> PushNotification {
        var notification = Sample.notification(number)
        notification.id = NotificationID(high: 1, low: UInt64(number))
        change(&notification)
        return notification
    }

    private func blacklist(_ number: Int, in bench: Bench) {
        let entry = BlacklistEntry(
            token: Sample.notification(number).token!, reason: .unregistered, since: WallTime(seconds: 1_600_000_000),
            learntAt: bench.clock.wall, route: "r")
        bench.journal.blacklist.add([entry]) { _ in }
        bench.settle()
    }

    @Test("Whose expiration has passed since is told what became of the first, and a new one is refused")
    func expired() throws {
        let bench = try Bench()
        let seconds = bench.clock.wall.seconds + 3
        let short = { (number: Int) in self.withID(number) { $0.expiration = .at(seconds) } }
        try bench.submit([short(1), short(2)])
        bench.settle()
        bench.connection.answer(1, .confirmed)
        bench.settle()
        bench.clock.advance(by: .seconds(4))
        let receipts = try bench.submit([short(1), short(3), withID(4), short(2)])
        #expect(text(receipts) == ["1 confirmed", "BadExpirationDate", "3", "2"])
        #expect(bench.status.submitted == 3)
        #expect(bench.status.refused == 1)
    }

    @Test("Whose token has been blacklisted since is told the first one's receipt, or its end")
    func blacklisted() throws {
        let bench = try Bench()
        try bench.submit([withID(1), withID(2)])
        bench.settle()
        bench.connection.answer(1, .confirmed)
        bench.settle()
        blacklist(1, in: bench)
        blacklist(2, in: bench)
        blacklist(3, in: bench)
        let receipts = try bench.submit([withID(3), withID(2), withID(1), Sample.notification(1)])
        #expect(text(receipts) == ["Blacklisted", "2", "1 confirmed", "Blacklisted"])
        bench.settle()
        #expect(bench.sent == [1, 2])
    }

    @Test("Whose topic the credentials, or the routes, have lost since is told what became of the first")
    func topicGone() throws {
        let bench = try Bench()
        try bench.submit([withID(1)])
        bench.connectors[0].topics.withLock { $0 = ["com.example.elsewhere"] }
        #expect(text(try bench.submit([withID(1), withID(2)])) == ["1", "TopicDisallowed"])
    }

    @Test("Another payload or an id that was made on the way is no repeat, and is refused") func others() throws {
        let bench = try Bench()
        try bench.submit([withID(1)])
        blacklist(1, in: bench)
        let other = withID(1) { $0.payload = Array("{}".utf8) }
        let assigned = withID(1) { $0.hasAssignedID = true }
        #expect(text(try bench.submit([other, assigned])) == ["Blacklisted", "Blacklisted"])
    }

    @Test("While the journal can't be asked, nobody is told for good") func journalFails() throws {
        let bench = try Bench()
        try bench.submit([withID(1)])
        blacklist(1, in: bench)
        bench.journal.failWrites(with: JournalError(.inputOutput, "broken"))
        #expect(text(try bench.submit([withID(1), Sample.notification(1)])) == ["JournalFailed", "Blacklisted"])
    }

    @Test("Those who count are told of such repeats too") func counted() throws {
        let bench = try Bench()
        try bench.submit([withID(1)])
        blacklist(1, in: bench)
        let told = Monitor<Int?>(nil)
        bench.core.producer.submitTellingRepeats([withID(1), withID(2), withID(2)]) { _, repeats in
            told.withLock { $0 = repeats }
        }
        bench.settle()
        #expect(told.withLock { $0 } == 2)
    }
}
