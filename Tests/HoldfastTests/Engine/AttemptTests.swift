import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Answers that are none, answers that say "not now", rejections.
@Suite(.timeLimit(.minutes(1))) struct AttemptTests {
    @Test("An unknown result waits in the journal with its attempts and its flag, over a kill") func unknownWaits()
        throws
    {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.settle()
        bench.connection.answer(1, .unknown("no answer"))
        bench.settle()
        let entry = try #require(bench.journal.entries.first)
        #expect(entry.attempts == 1)
        #expect(entry.isFlaggedPossiblySent)
        #expect(entry.deferredUntil != nil)
        let next = try bench.crashed()
        next.advance(by: .seconds(2))
        #expect(next.sent == [1])
        #expect(next.status.possibleDuplicates == 1)
        #expect(next.connection.sent[0].notification.id == bench.connection.sent[0].notification.id)
        // A refusal "not now" afterwards does not wash it clean.
        next.connection.answer(1, SendResult(.deferred(.service)))
        next.settle()
        let last = try next.crashed()
        last.advance(by: .seconds(4))
        #expect(last.status.possibleDuplicates == 1)
    }

    @Test("What was answered \"not now\" is certainly not sent, over a kill") func deferredIsNotSent() throws {
        let bench = try Bench()
        try bench.submit([Sample.notification(1), Sample.notification(2, guarantee: .atMostOnce)])
        bench.settle()
        for number in [1, 2] {
            bench.connection.answer(number, SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        }
        bench.settle()
        let next = try bench.crashed()
        next.advance(by: .seconds(2))
        #expect(Set(next.sent) == [1, 2])
        #expect(next.status.possibleDuplicates == 0)
        #expect(next.status.unknown == 0)
    }

    @Test(
        "At most once goes again behind a 503, which says that it was not processed, and not behind a 500",
        arguments: [500, 503])
    func failedBehindItsWork(_ status: Int) throws {
        let bench = try Bench()
        var notification = Sample.notification(1)
        notification.guarantee = .atMostOnce
        try bench.submit([notification])
        bench.settle()
        bench.connection.answer(
            1, SendResult(apnsStatus: status, reason: status == 500 ? "InternalServerError" : "ServiceUnavailable"))
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(60))
        #expect(bench.status.unknown == (status == 500 ? 1 : 0))
        #expect(bench.sent == (status == 500 ? [1] : [1, 1]))
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("Too many attempts: rejected, and unknown when one of them may have been taken", arguments: [true, false])
    func tooMany(_ unknownOnce: Bool) throws {
        let bench = try Bench { $0.retry = RetrySchedule(greatestCount: 3) }
        // Others are taken: it is not the service.
        try bench.submit(1..<3)
        bench.settle()
        bench.connection.answer(
            1, unknownOnce ? .unknown("no answer") : SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        bench.connection.answer(2, .confirmed)
        for neighbour in 3..<5 {
            bench.advance(by: .seconds(10))
            try bench.submit(neighbour..<(neighbour + 1))
            bench.settle()
            bench.connection.answer(1, SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
            bench.connection.answer(neighbour, .confirmed)
            bench.settle()
        }
        #expect(bench.sent.filter { $0 == 1 } == [1, 1, 1])
        #expect(bench.status.unknown == (unknownOnce ? 1 : 0))
        #expect(bench.status.rejected == (unknownOnce ? [:] : [.tooManyAttempts: 1]))
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("Too old: rejected, and unknown when an attempt may have been taken", arguments: [true, false])
    func tooOld(_ isUnknown: Bool) throws {
        let bench = try Bench { $0.retry = RetrySchedule(greatestAge: .seconds(60)) }
        try bench.submit(1..<2)
        bench.settle()
        bench.advance(by: .seconds(61))
        bench.connection.answer(
            1, isUnknown ? .unknown("no answer") : SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        bench.settle()
        #expect(bench.status.unknown == (isUnknown ? 1 : 0))
        #expect(bench.status.rejectedTotal == (isUnknown ? 0 : 1))
    }

    @Test(
        "What expired while it waited is expired, and unknown when an attempt may have been taken",
        arguments: [true, false])
    func expiredInBetween(_ isUnknown: Bool) throws {
        let bench = try Bench()
        var notification = Sample.notification(1)
        notification.expiration = .at(bench.clock.wall.seconds + 2)
        try bench.submit([notification])
        bench.settle()
        let result: SendResult.Verdict = isUnknown ? .unknown : .deferred(.service)
        bench.connection.answer(1, SendResult(result, retryAfter: .seconds(5)))
        bench.settle()
        bench.advance(by: .seconds(10))
        #expect(bench.sent == [1])
        #expect(bench.status.unknown == (isUnknown ? 1 : 0))
        #expect(bench.status.expired == (isUnknown ? 0 : 1))
    }

    @Test(
        "A rejection keeps status, reason, the service's timestamp and the notification, and is trimmed by age and number"
    )
    func rejections() throws {
        let bench = try Bench {
            $0.rejectionAge = .seconds(600)
            $0.rejectionLimit = 2
        }
        try bench.submit(1..<5)
        bench.settle()
        for number in 1..<5 {
            bench.connection.answer(
                number,
                SendResult(
                    apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(milliseconds: 1_700_000_000_123)))
        }
        bench.settle()
        let rejection = try #require(try bench.journal.rejections(after: .none, limit: 1).first)
        #expect(rejection.cause.status == 410)
        #expect(rejection.cause.reason == .unregistered)
        #expect(rejection.cause.timestamp == WallTime(milliseconds: 1_700_000_000_123))
        #expect(rejection.cause.rejectedAt == bench.clock.wall)
        #expect(rejection.notification.payload == Sample.notification(1).payload)
        bench.advance(by: .seconds(61))
        #expect(bench.journal.rejections.keys.map(\.rawValue).sorted() == [3, 4])
        bench.advance(by: .seconds(660))
        #expect(bench.journal.rejections.isEmpty)
    }

    @Test("A 410 that is older than the registration blacklists nothing, and the entry is rejected")
    func registeredSince() throws {
        let bench = try Bench()
        var notification = Sample.notification(1)
        notification.tokenRegisteredAt = WallTime(seconds: 1_700_000_001)
        try bench.submit([notification])
        bench.settle()
        bench.connection.answer(
            1, SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_700_000_000)))
        bench.settle()
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.journal.rejections.count == 1)
    }

    @Test("A late answer to an attempt that was given up does not write the entry back") func lateAnswer() throws {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.settle()
        let first = bench.connection.sent[0].ticket
        bench.connection.answer(1, .unknown("deadline"))
        bench.settle()
        bench.advance(by: .seconds(2))
        bench.connection.answer(1, .confirmed)
        bench.connection.sink(.results([(first, SendResult(apnsStatus: 503))]))
        bench.settle()
        #expect(bench.journal.entries.isEmpty)
        #expect(bench.status.confirmed == 1)
        #expect(bench.status.settled == 1)
    }
}
