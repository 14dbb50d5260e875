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

    private mutating func turnEnded(out: Int, answers: Int, at second: Int64) {
        let now = moment(second)
        reach.turnEnded(out: out, answers: answers) { now }
    }

    private mutating func look(isExplained: Bool = false, at second: Int64) {
        reach.look(waiting: 2, isExplained: { isExplained }, at: moment(second))
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

    @Test("A service that ends each connection soon, and takes nothing, is away with the third one that had something")
    mutating func endsEach() {
        for second in 0..<7 {
            let (number, second) = (second + 1, Int64(second))
            connected(number, at: second)
            handedOut(to: number, at: second)
            take(.unconnected(cause: nil), at: second)
            ended(number, at: second)
            #expect((reach.away != nil) == (second >= 5), "\(second)")
        }
        connected(8, at: 10)
        handedOut(to: 8, at: 10)
        confirmed(at: 11)
        #expect(reach.away == nil)
        ended(8, at: 12)
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
        turnEnded(out: 1, answers: 0, at: 1)
        confirmed(at: 2)
        turnEnded(out: 0, answers: 1, at: 2)
        #expect(reach.nextLook == nil)
        handedOut(to: 1, at: 100)
        turnEnded(out: 1, answers: 1, at: 100)
        handedOut(to: 1, at: 105)
        turnEnded(out: 2, answers: 1, at: 105)
        #expect(reach.nextLook == .seconds(110))
        look(at: 109)
        #expect(reach.away == nil)
        look(at: 110)
        #expect(reach.away?.isSilence == true && reach.away?.since == WallTime(seconds: 1_800_000_100))
        #expect(reach.away?.failures == 0 && reach.nextLook == nil)
        // The connection ends for it.
        ended(1, at: 130)
        #expect(reach.away?.isSilence == false && reach.away?.failures == 1)
        connected(2, at: 130)
        confirmed(at: 131)
        #expect(reach.away == nil)
    }

    @Test("A slow service is told as away twice, and after that when nothing is answered for twice as long as it takes")
    mutating func slowEachTime() {
        connected(1, at: 0)
        for (round, isAway) in [true, true, false, false].enumerated() {
            let start = Int64(1 + 20 * round)
            handedOut(to: 1, at: start)
            turnEnded(out: 2, answers: round, at: start)
            look(at: start + 11)
            #expect((reach.away != nil) == isAway, "round \(round)")
            confirmed(at: start + 12)
            turnEnded(out: 0, answers: round + 1, at: start + 12)
            look(at: start + 12)
            #expect(reach.away == nil)
        }
        handedOut(to: 1, at: 100)
        turnEnded(out: 2, answers: 4, at: 100)
        #expect(reach.nextLook == .seconds(124))
        look(at: 123)
        #expect(reach.away == nil)
        look(at: 124)
        #expect(reach.away != nil)
    }

    @Test("An outage that is longer than a request may take is no slow service, and slowness is forgotten")
    mutating func outagesAreNotSlow() {
        connected(1, at: 0)
        let silences: [(start: Int64, length: Int64)] = [(1, 31), (50, 31), (100, 12), (150, 12), (800, 12)]
        for (round, silence) in silences.enumerated() {
            handedOut(to: 1, at: silence.start)
            turnEnded(out: 2, answers: round, at: silence.start)
            look(at: silence.start + 10)
            #expect(reach.away != nil, "round \(round)")
            confirmed(at: silence.start + silence.length)
            turnEnded(out: 0, answers: round + 1, at: silence.start + silence.length)
            look(at: silence.start + silence.length)
        }
    }

    @Test("The silence of a topic that is known for it is not the service's, and is looked at again later")
    mutating func ofATopic() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        turnEnded(out: 1, answers: 0, at: 1)
        look(isExplained: true, at: 11)
        #expect(reach.away == nil && reach.nextLook == .seconds(21))
    }

    @Test("A service that falls silent while requests are out is away, although nothing more goes out")
    mutating func fallsSilentWithRequestsOut() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        turnEnded(out: 3, answers: 0, at: 1)
        confirmed(at: 4)
        turnEnded(out: 2, answers: 1, at: 4)
        #expect(reach.nextLook == .seconds(14))
        look(at: 14)
        #expect(reach.away?.isSilence == true && reach.away?.since == WallTime(seconds: 1_800_000_004))
    }

    @Test("A service that answers the first request of each connection, and no other, stays away until it answers on")
    mutating func firstOnly() {
        connected(1, at: 0)
        turnEnded(out: 5, answers: 0, at: 0)
        confirmed(at: 1)
        turnEnded(out: 4, answers: 1, at: 1)
        look(at: 11)
        for (answers, second) in [(2, 31), (3, 61)] as [(Int, Int64)] {
            connected(answers, at: second)
            confirmed(at: second)
            turnEnded(out: 5, answers: answers, at: second)
            look(at: second)
            #expect(reach.away?.isSilence == true, "\(second)")
        }
        confirmed(at: 63)
        turnEnded(out: 5, answers: 4, at: 63)
        #expect(reach.away == nil)
    }

    @Test("A silence is over with the last answer, and with one beside which only topics are out that explain it")
    mutating func over() {
        for isAll in [true, false] {
            reach = ServiceReach(answersEach: true)
            connected(1, at: 0)
            turnEnded(out: 5, answers: 0, at: 0)
            look(at: 10)
            #expect(reach.away != nil)
            confirmed(at: 12)
            turnEnded(out: isAll ? 0 : 2, answers: 5, at: 12)
            look(isExplained: !isAll, at: 12)
            #expect(reach.away == nil, "\(isAll)")
        }
    }

    @Test("The end of the only connection counts once") mutating func once() {
        connected(1, at: 0)
        handedOut(to: 1, at: 1)
        ended(1, at: 31)
        take(.unconnected(cause: "it answers no request"), at: 31)
        #expect(reach.away?.failures == 1)
    }
}
