import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Lanes of one route share its places, and a send mark rises only over what has one.
@Suite struct FairnessTests {
    private func considerate(_ numbers: Range<Int>, _ guarantee: Guarantee = .atLeastOnce) -> [PushNotification] {
        numbers.map { number in
            var notification = Sample.notification(number, guarantee: guarantee)
            notification.priority = .considerate
            return notification
        }
    }

    @Test("A backlog holds up no lane of the other guarantee, whichever it is", arguments: Guarantee.allCases)
    func sharedByGuarantees(_ backlog: Guarantee) throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 10 }
        try bench.submit(0..<500, guarantee: backlog)
        try bench.submit(5000..<5020, guarantee: backlog == .atLeastOnce ? .atMostOnce : .atLeastOnce)
        bench.settle()
        for _ in 0..<12 {
            bench.connection.answerAll()
            bench.settle()
        }
        #expect(bench.sent.prefix { $0 < 5000 }.count <= 20)
        #expect(bench.sent.count { $0 >= 5000 } == 20)
        #expect(bench.sent.count { $0 < 5000 } >= 60)
        #expect(bench.status.unknown == 0)
    }

    @Test("Considerate entries get on beside an endless stream of immediate ones, which keep the greater share")
    func considerateGetOn() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 17 }
        try bench.submit(considerate(90_000..<91_000))
        var next = 0
        while next < 17 * 40 {
            try bench.submit(next..<next + 17)
            next += 17
            bench.settle()
            bench.connection.answerAll()
            bench.settle()
        }
        // What is there before anything immediate, then one in seventeen.
        let waited = bench.sent.drop { $0 >= 90_000 }
        let share = Double(waited.count { $0 >= 90_000 }) / Double(waited.count)
        #expect(share > 0.03 && share < 0.09, "considerate ones had a share of \(share)")
    }

    @Test("A rate that lets one entry go at a time is shared between the lanes as well") func sharedRate() throws {
        let bench = try Bench(rate: RateLimit(perSecond: 10, burst: 1))
        bench.answer = { _ in .confirmed }
        try bench.submit(0..<500)
        try bench.submit(considerate(5000..<5100))
        bench.advance(by: .seconds(34))
        let share = Double(bench.sent.count { $0 >= 5000 }) / Double(bench.sent.count)
        #expect(share > 0.05 && share < 0.07, "considerate ones had a share of \(share)")
    }

    @Test(
        "A rate goes on where there is room again at the end of a turn that found none", arguments: 1...5)
    func slowTurns(_ turns: Int) throws {
        // So many turns go by, each with news, until there is room again in the middle of the next.
        let bench = try Bench(
            rate: RateLimit(perSecond: 10, burst: 1), slowness: .milliseconds(100) / (Double(turns) + 0.5))
        bench.answer = { _ in .confirmed }
        try bench.submit(0..<20)
        bench.advance(by: .seconds(6))
        #expect(bench.sent.count == 20)
    }

    @Test("A lane that is alone has the whole window, at each guarantee", arguments: Guarantee.allCases)
    func aloneHasAll(_ guarantee: Guarantee) throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 100 }
        try bench.submit(0..<500, guarantee: guarantee)
        bench.settle()
        #expect(bench.sent.count == 100)
        for round in 2...5 {
            bench.connection.answerAll()
            bench.settle()
            #expect(bench.sent.count == 100 * round)
        }
    }

    @Test("A crash calls nothing unknown that was never handed out, beside a backlog that is served meanwhile")
    func markAboveItsPlaces() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 10 }
        bench.accepts = false
        try bench.submit(0..<200)
        try bench.submit(5000..<5100, guarantee: .atMostOnce)
        bench.settle()
        bench.accepts = true
        bench.settle()
        for _ in 0..<4 {
            bench.connection.answerAll()
            bench.settle()
        }
        let handedOut = bench.sent.count { $0 >= 5000 }
        #expect(handedOut < 100)
        let next = try bench.crashed()
        next.settle()
        for _ in 0..<60 {
            next.connection.answerAll()
            next.settle()
        }
        #expect(next.status.unknown <= handedOut)
        // What was answered before the crash is not among them.
        #expect(next.status.unknown <= 10)
        #expect(next.sent.count { $0 >= 5000 } >= 100 - handedOut)
    }

    @Test("Deferred entries with one attempt that come back keep their places as well") func promotedKeepTheirPlaces()
        throws
    {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 10 }
        try bench.submit(5000..<5010, guarantee: .atMostOnce)
        bench.settle()
        try bench.submit(0..<100)
        for number in 5000..<5010 {
            bench.connection.answer(number, SendResult(.neverProcessed(.none), detail: "not now"))
        }
        bench.commits = false
        bench.turn()
        bench.journal.commit()
        bench.turn()
        // They are deferred until now, and asked to come back, while others want places.
        for _ in 0..<12 {
            bench.journal.commit()
            bench.turn()
            let others = bench.connection.sent.filter { Sample.number(of: $0.notification) < 5000 }
            if !others.isEmpty { bench.connection.sink(.confirmed(others.map(\.ticket))) }
        }
        let handedOut = bench.sent.dropFirst(10).count { $0 >= 5000 }
        let next = try bench.crashed()
        next.settle()
        #expect(handedOut > 0)
        #expect(next.status.unknown <= handedOut)
    }

    @Test("Where the service takes fewer than have places by now, the lanes fill theirs one after the other")
    func fewerPlacesThanKept() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 40 }
        bench.capacity = 40
        bench.answer = { _ in .confirmed }
        bench.accepts = false
        try bench.submit(5000..<5100, guarantee: .atMostOnce)
        try bench.submit(considerate(6000..<6010, .atMostOnce))
        bench.settle()
        bench.accepts = true
        bench.commits = false
        bench.settle()
        #expect(bench.consumer.lanes.count { $0.machine.keptPlaces > 0 } == 2)
        bench.connection.sink(.capacityChanged(1))
        bench.commits = true
        bench.settle()
        #expect(bench.status.confirmed == 110)
    }

    @Test("An entry with one attempt that comes back as its topic's probe has a place like any other")
    func probeOfTopicHasItsPlace() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 1 }
        bench.answer = {
            $0.topic == "com.example.typo" ? SendResult(apnsStatus: 400, reason: "TopicDisallowed") : .confirmed
        }
        var typo = Sample.notification(1, guarantee: .atMostOnce)
        typo.topic = "com.example.typo"
        try bench.submit([typo])
        // So that the other lane is not behind with its share.
        try bench.submit(considerate(3..<4, .atMostOnce))
        bench.settle()
        #expect(bench.sent == [1, 3])
        bench.commits = false
        try bench.submit(considerate(2..<3, .atMostOnce))
        bench.journal.commit()
        bench.clock.advance(by: .seconds(2))
        // The probe is asked to come back, and the other lane wants a place meanwhile.
        bench.turn()
        bench.journal.commit()
        bench.turn()
        #expect(bench.consumer.connections.inFlight + bench.consumer.lanes.keptPlaces() <= 1)
        bench.commits = true
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmed == 2)
    }

    @Test("A record that cannot be read has a place below the mark like any other, in a lane with one attempt")
    func unreadableHasItsPlace() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 1 }
        bench.accepts = false
        try bench.submit(1..<2, guarantee: .atMostOnce)
        try bench.submit(considerate(2..<3, .atMostOnce))
        bench.settle()
        bench.journal.damage(UID(1), as: .damaged("its checksum is wrong"))
        bench.accepts = true
        bench.commits = false
        bench.settle()
        bench.journal.commit()
        #expect(try bench.journal.status().lanes.count { $0.mark > .none } == 1)
        bench.answer = { _ in .confirmed }
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.commits = true
        bench.settle()
        #expect(bench.status.confirmed == 1)
        #expect(bench.status.quarantined == 1)
    }
}
