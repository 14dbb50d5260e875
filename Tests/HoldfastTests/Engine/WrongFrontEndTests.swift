import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A service that is wrong about tokens in a part of its front ends, or at random, while it takes others.
@Suite(.timeLimit(.minutes(2))) struct WrongFrontEndTests {
    /// Ten notifications at a time, each to another token.
    private func feed(
        _ bench: Bench, _ numbers: Range<Int>, atOnce: Int = 10, every pause: Duration = .milliseconds(200)
    ) throws {
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: atOnce) {
            try bench.submit(first..<min(first + atOnce, numbers.upperBound))
            bench.advance(by: pause)
        }
    }

    /// Two connections; `answer` is asked with the number of the connection.
    private func twoFrontEnds(
        _ answer: @escaping @Sendable (_ connection: Int, _ notification: Int) -> SendResult
    ) throws -> Bench {
        let bench = try Bench(connectionLimit: 2, scaling: Self.always(2))
        bench.prepare = { connection in
            let number = connection.number
            connection.state.withLock { $0.answer = { answer(number, Sample.number(of: $0)) } }
        }
        return bench
    }

    private static func always(_ connections: Int) -> ConnectionScaling {
        var scaling = ConnectionScaling()
        scaling.minimum = connections
        return scaling
    }

    private static let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")
    private static let notForTopic = SendResult(apnsStatus: 400, reason: "DeviceTokenNotForTopic")

    @Test(
        "A front end that calls every token bad convicts none while another takes them, whatever it is asked, and each arrives",
        arguments: [(bad, 40, 100), (bad, 10, 200), (bad, 2, 3000), (bad, 1, 6000), (notForTopic, 100, 500)])
    func allBad(_ word: SendResult, atOnce: Int, pause: Int) throws {
        let bench = try twoFrontEnds { connection, _ in connection == 1 ? .confirmed : word }
        try feed(bench, 1..<601, atOnce: atOnce, every: .milliseconds(pause))
        bench.advance(by: .seconds(60))
        #expect(bench.connections[0].count == 2)
        #expect(bench.core.producer.blacklist.count <= 1)
        #expect(bench.status.confirmed >= 599)
    }

    @Test("One that turns wrong in the middle costs at most the allowance") func turnsWrong() throws {
        let bench = try twoFrontEnds { connection, number in
            connection == 2 && number > 500 ? Self.bad : .confirmed
        }
        try feed(bench, 1..<1501)
        bench.advance(by: .seconds(120))
        #expect(bench.core.producer.blacklist.count <= 9)
        #expect(bench.status.confirmed >= 1491)
    }

    @Test("One that knows a part of the tokens only costs at most the allowance", arguments: [2, 4])
    func partlyBad(_ share: Int) throws {
        let bench = try twoFrontEnds { connection, number in
            connection == 2 && number.isMultiple(of: share) ? Self.bad : .confirmed
        }
        try feed(bench, 1..<1501)
        bench.advance(by: .seconds(120))
        #expect(bench.core.producer.blacklist.count <= 9)
        #expect(bench.status.confirmed >= 1491)
    }

    @Test("Bad tokens are convicted by the front end that is well, whatever the other says") func convictedByTheOther()
        throws
    {
        let bench = try twoFrontEnds { connection, number in
            connection == 2 || number.isMultiple(of: 5) ? Self.bad : .confirmed
        }
        try feed(bench, 1..<601)
        bench.advance(by: .seconds(600))
        #expect(bench.core.producer.blacklist.count == 120)
        #expect(bench.status.confirmed == 480)
    }

    @Test("Two front ends that agree convict as one does", arguments: [2, 5, 10]) func bothAgree(_ share: Int) throws {
        let bench = try twoFrontEnds { _, number in number.isMultiple(of: share) ? Self.bad : .confirmed }
        try feed(bench, 1..<1001)
        bench.advance(by: .seconds(20))
        #expect(bench.core.producer.blacklist.count == 1000 / share)
        #expect(bench.status.confirmed == 1000 - 1000 / share)
        #expect(bench.sent.count <= 1000 + 1000 / share)
    }

    @Test(
        "A service that calls tokens bad at random costs at most the allowance, and everything arrives when it is well",
        arguments: [1, 2], [(5, 10, 200), (30, 10, 200), (30, 1, 1000), (60, 10, 200), (60, 40, 100)])
    func atRandom(_ connections: Int, _ case: (share: Int, atOnce: Int, pause: Int)) throws {
        let isWell = Monitor(false)
        let dice = Monitor(Xoshiro256(seed: 7))
        let share = UInt64(`case`.share)
        let answer: @Sendable (PushNotification) -> SendResult? = { _ in
            !isWell.withLock { $0 } && dice.withLock { $0.next() % 100 } < share ? Self.bad : .confirmed
        }
        let bench = try Bench(connectionLimit: connections, scaling: Self.always(connections))
        bench.answer = answer
        try feed(bench, 1..<1201, atOnce: `case`.atOnce, every: .milliseconds(`case`.pause))
        bench.advance(by: .seconds(60))
        isWell.withLock { $0 = true }
        bench.advance(by: .seconds(300))
        let convicted = bench.core.producer.blacklist.count
        #expect(convicted <= 12)
        #expect(bench.status.confirmed == 1200 - convicted)
    }

    @Test("Bad tokens are convicted again a while after a service was wrong for a moment") func trustReturns() throws {
        let isWrong = Monitor(true)
        let bench = try Bench()
        bench.answer = { notification in
            let number = Sample.number(of: notification)
            return number.isMultiple(of: 10) && number > 1000 || number.isMultiple(of: 2) && isWrong.withLock { $0 }
                ? Self.bad : .confirmed
        }
        try feed(bench, 1..<201)
        isWrong.withLock { $0 = false }
        bench.advance(by: .seconds(60))
        let wrongly = bench.core.producer.blacklist.count
        #expect(wrongly <= 9)
        try feed(bench, 1001..<1101)
        bench.advance(by: .seconds(900))
        #expect(bench.core.producer.blacklist.count == wrongly + 10)
        #expect(bench.journal.entries.isEmpty)
    }
}
