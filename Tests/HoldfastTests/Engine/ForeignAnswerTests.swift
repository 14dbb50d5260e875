import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Answers that are not the push service's, and refusals that are all the same.
@Suite(.timeLimit(.minutes(1))) struct ForeignAnswerTests {
    @Test(
        "Another server's errors reject nothing, count nothing and stop the lanes, with words",
        arguments: [302, 400, 401, 403, 404, 405, 407, 410, 413, 421], Guarantee.allCases)
    func wrongServer(_ status: Int, _ guarantee: Guarantee) throws {
        let bench = try Bench()
        bench.answer = { _ in
            var result = SendResult(apnsStatus: status)
            result.detail = #"server nginx, text/html, "<html>""#
            return result
        }
        try bench.submit(1..<2001, guarantee: guarantee)
        bench.settle()
        #expect(bench.status.settled == 0)
        #expect(bench.journal.entries.count == 2000)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        let reason = bench.status.lanes.first { $0.key.guarantee == guarantee }?.stoppedBecause
        #expect(reason?.contains("status \(status), server nginx, text/html") == true)
        // All lanes of the route speak to the same server.
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause != nil })
        #expect(bench.core.producer.blacklist.count == 0)
    }

    @Test("Two answers of another server are told before a lane stops for them, and over when the service answers")
    func toldEarly() throws {
        let bench = try Bench()
        bench.answer = { _ in SendResult(apnsStatus: 404) }
        try bench.submit(1..<3)
        bench.settle()
        #expect(bench.status.conditions.isEmpty)
        bench.advance(by: .seconds(6))
        let condition = try #require(bench.status.conditions.first)
        #expect(condition.kind == .wrongServer && condition.severity == .warning && condition.affected == 2)
        #expect(condition.what.contains("status 404"))
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause == nil })
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(125))
        #expect(bench.status.confirmed == 2)
        #expect(bench.status.conditions.isEmpty)
    }

    @Test("One answer of another server among the service's own is no condition") func notToldAmongMany() throws {
        let bench = try Bench()
        bench.answer = { Sample.number(of: $0) == 1 ? SendResult(apnsStatus: 404) : .confirmed }
        try bench.submit(1..<2)
        bench.settle()
        try bench.submit(2..<3)
        bench.settle()
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 1 && bench.status.conditions.isEmpty)
    }

    @Test("One 421 stops the lanes at once") func misdirected() throws {
        let bench = try Bench()
        bench.answer = { _ in SendResult(apnsStatus: 421) }
        try bench.submit(1..<2)
        bench.settle()
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause?.contains("status 421") == true })
        #expect(bench.status.conditions.map(\.kind) == [.wrongServer])
        #expect(bench.journal.entries.map(\.attempts) == [0])
    }

    @Test("Lanes that have nothing to try run again with the one that the service answers") func lanesWithoutEntries()
        throws
    {
        let bench = try Bench()
        bench.answer = { _ in SendResult(apnsStatus: 404) }
        try bench.submit(1..<101)
        bench.settle()
        #expect(bench.status.lanes.count == 4)
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause != nil })
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(120))
        #expect(bench.status.confirmed == 100)
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause == nil && $0.nextProbeAt == nil })
    }

    @Test("A kill after such answers makes no duplicates and nothing unknown", arguments: Guarantee.allCases)
    func killed(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        bench.answer = { _ in SendResult(apnsStatus: 404) }
        try bench.submit(1..<101, guarantee: guarantee)
        bench.settle()
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(120))
        #expect(next.status.confirmed == 100)
        #expect(next.status.unknown == 0)
    }

    @Test("One such answer among many that are taken: it waits with nothing counted, and the lane goes on")
    func oneAmongMany() throws {
        let bench = try Bench()
        let count = Monitor(0)
        bench.answer = { notification in
            guard Sample.number(of: notification) == 50 else { return .confirmed }
            let tries = count.withLock { count in
                count += 1
                return count
            }
            return tries < 3 ? SendResult(apnsStatus: 400) : .confirmed
        }
        try bench.submit(0..<100)
        bench.settle()
        #expect(bench.status.confirmed == 99)
        #expect(bench.journal.entries.map(\.attempts) == [0])
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause == nil })
        bench.advance(by: .seconds(125))
        #expect(bench.status.confirmed == 100)
    }

    @Test("A success that is not the service's settles nothing as taken; what has one attempt is unknown")
    func foreignSuccess() throws {
        let bench = try Bench()
        bench.answer = { _ in SendResult(.foreign, status: 200, detail: "a portal") }
        try bench.submit([Sample.notification(1), Sample.notification(2, guarantee: .atMostOnce)])
        bench.settle()
        #expect(bench.status.confirmed == 0)
        #expect(bench.status.unknown == 1)
        #expect(bench.journal.entries.map(\.isFlaggedPossiblySent) == [true])
    }

    @Test(
        "Behind a proxy's 5xx it may have been taken: one attempt is over and unknown, anything else may come twice",
        arguments: [500, 502, 503, 504], [1, 40])
    func proxysError(_ status: Int, _ count: Int) throws {
        let bench = try Bench()
        let isMended = Monitor(false)
        bench.answer = { _ in isMended.withLock { $0 } ? .confirmed : SendResult(apnsStatus: status) }
        try bench.submit(1..<(1 + count), guarantee: .atMostOnce)
        try bench.submit(101..<(101 + count))
        bench.settle()
        isMended.withLock { $0 = true }
        bench.advance(by: .seconds(1200))
        #expect(bench.journal.entries.isEmpty)
        for number in 1..<(1 + count) { #expect(bench.sent.count { $0 == number } == 1) }
        #expect(bench.status.unknown == count)
        #expect(bench.status.confirmed == count)
        #expect(bench.status.possibleDuplicates >= count)
    }

    @Test("What the service itself puts off in its own words goes again, with one attempt too") func servicesError()
        throws
    {
        let bench = try Bench()
        let isMended = Monitor(false)
        bench.answer = { _ in
            isMended.withLock { $0 }
                ? .confirmed : SendResult(apnsStatus: 503, reason: "ServiceUnavailable")
        }
        try bench.submit(1..<41, guarantee: .atMostOnce)
        bench.settle()
        isMended.withLock { $0 = true }
        bench.advance(by: .seconds(1200))
        #expect(bench.status.confirmed == 40)
        #expect(bench.status.possibleDuplicates == 0)
    }

    @Test(
        "The same refusal for very many in a row stops the lane; the rest is not rejected, and goes when it is mended",
        arguments: [(404, .badPath), (400, .payloadEmpty)] as [(Int, Reason)])
    func uniform(_ status: Int, _ reason: Reason) throws {
        let bench = try Bench { $0.suspects.greatestUniform = 100 }
        bench.answer = { _ in SendResult(apnsStatus: status, reason: reason.rawValue) }
        try bench.submit(0..<2000)
        bench.settle()
        #expect(bench.status.rejectedTotal == 100)
        let lane = bench.status.lanes.first { $0.backlog > 0 }
        #expect(lane?.backlog == 1900)
        #expect(lane?.stoppedBecause?.contains("\(status) \(reason) 101 times in a row") == true)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(5))
        #expect(bench.status.confirmed == 1900)
    }

    @Test(
        "Where the cause is not mended, an operator who resumes such a lane loses nothing, however often",
        arguments: [1, 5])
    func resumedTooEarly(times: Int) throws {
        let bench = try Bench { $0.suspects.greatestUniform = 100 }
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "BadCollapseId") }
        try bench.submit(0..<2000)
        bench.settle()
        for _ in 0..<times {
            bench.core.resume(bench.lane(.atLeastOnce))
            bench.settle()
            #expect(bench.status.rejectedTotal == 100)
            #expect(bench.status.lanes.contains { $0.stoppedBecause?.contains("in a row") == true })
        }
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.core.resume(bench.lane(.atLeastOnce))
        bench.advance(by: .seconds(90))
        #expect(bench.status.confirmed == 1900)
    }

    @Test("Bad notifications among good ones, or bad in different ways, are rejected as ever") func mixed() throws {
        let bench = try Bench { $0.suspects.greatestUniform = 10 }
        bench.answer = { notification in
            switch Sample.number(of: notification) % 3 {
            case 0: .confirmed
            case 1: SendResult(apnsStatus: 400, reason: "BadCollapseId")
            default: SendResult(apnsStatus: 400, reason: "PayloadEmpty")
            }
        }
        try bench.submit(0..<300)
        bench.settle()
        #expect(bench.status.confirmed == 100)
        #expect(bench.status.rejected == [.badCollapseID: 100, .payloadEmpty: 100])
    }
}
