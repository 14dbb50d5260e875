import Testing

@testable import Holdfast

@Suite struct ServiceReachTests {
    private var reach = ServiceReach(answersEach: true)
    private let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)

    private mutating func take(_ news: RouteNews, at second: Int64) {
        let now = moment(second)
        reach.take(news) { now }
    }

    private func moment(_ second: Int64) -> Moment {
        Moment(monotonic: .seconds(second), wall: WallTime(seconds: 1_800_000_000 + second))
    }

    private mutating func connected(_ number: Int, at second: Int64) {
        take(.connected(number, endpoint: "push.example.com"), at: second)
    }

    private mutating func handedOut(to number: Int, at second: Int64) {
        take(
            .handedOut(lane, first: UID(1), last: UID(1), count: 1, connection: number, possibleDuplicates: 0),
            at: second)
    }

    private mutating func ended(_ number: Int, at second: Int64, isSilent: Bool = true) {
        let cause = "it answers no request"
        if isSilent { take(.endsSilent(number, cause: cause), at: second) }
        take(.disconnected(number, endpoint: "push.example.com", cause: cause, isExpected: false), at: second)
    }

    private mutating func confirmed(at second: Int64) {
        var counts = SettlementCounts()
        counts.confirmed = 1
        take(.settling(counts), at: second)
    }

    @Test("A service that takes connections and answers nothing is away, although there is always another connection")
    mutating func silent() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        connected(2, at: 31)
        ended(1, at: 31)
        #expect(reach.away?.failures == 1 && reach.away?.since == WallTime(seconds: 1_800_000_031))
        handedOut(to: 2, at: 31)
        connected(3, at: 62)
        ended(2, at: 62)
        #expect(reach.away?.failures == 2)
        confirmed(at: 63)
        #expect(reach.away == nil)
    }

    @Test("A service that has answered for long and falls silent is away when a connection of that time ends")
    mutating func fallsSilent() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        confirmed(at: 2)
        handedOut(to: 1, at: 100)
        connected(2, at: 130)
        ended(1, at: 130, isSilent: false)
        #expect(reach.away == nil)
        handedOut(to: 2, at: 130)
        connected(3, at: 160)
        ended(2, at: 160)
        #expect(reach.away != nil)
    }

    @Test("A connection that ends among others that work says nothing of the service") mutating func oneOfMany() {
        connected(1, at: 0)
        connected(2, at: 0)
        handedOut(to: 1, at: 1)
        handedOut(to: 2, at: 1)
        confirmed(at: 20)
        handedOut(to: 1, at: 21)
        ended(1, at: 22)
        #expect(reach.away == nil)
    }

    @Test("A connection that ends just after it was given something had no time to bring an answer")
    mutating func sudden() {
        connected(1, at: 0)
        connected(2, at: 0)
        handedOut(to: 1, at: 1)
        ended(1, at: 2)
        #expect(reach.away == nil)
    }

    @Test("What puts notifications off, such as a deadline that has passed, is no answer") mutating func deferred() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        var counts = SettlementCounts()
        counts.deferred = 1
        take(.settling(counts), at: 31)
        connected(2, at: 31)
        ended(1, at: 31)
        #expect(reach.away?.failures == 1)
    }

    @Test("That nothing is answered is told after ten seconds, and is over with an answer") mutating func slow() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        confirmed(at: 2)
        #expect(reach.nextLook == nil)
        handedOut(to: 1, at: 100)
        handedOut(to: 1, at: 105)
        #expect(reach.nextLook == .seconds(110))
        reach.look(waiting: 2, isTopics: false, at: moment(109))
        #expect(reach.away == nil)
        reach.look(waiting: 2, isTopics: false, at: moment(110))
        #expect(reach.away?.isSilence == true && reach.away?.since == WallTime(seconds: 1_800_000_100))
        #expect(reach.away?.failures == 0 && reach.nextLook == nil)
        // The connection ends for it.
        ended(1, at: 130)
        #expect(reach.away?.isSilence == false && reach.away?.failures == 1)
        connected(2, at: 130)
        confirmed(at: 131)
        #expect(reach.away == nil)
    }

    @Test("The silence of a topic that is known for it is not the service's, and asks for no further look")
    mutating func ofATopic() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        reach.look(waiting: 1, isTopics: true, at: moment(11))
        #expect(reach.away == nil && reach.nextLook == nil)
    }

    @Test("The end of the only connection counts once") mutating func once() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        ended(1, at: 31)
        take(.unconnected(cause: "it answers no request"), at: 31)
        #expect(reach.away?.failures == 1)
    }
}
