import Testing

@testable import Holdfast

@Suite struct TopicHoldTests {
    private let wall = WallTime(seconds: 1000)
    private let schedule = ProbeSchedule()

    private func hold(greatest: Int = 1000, lanes: Int = 2) -> TopicHold {
        var policy = TopicPolicy()
        policy.greatestHeld = greatest
        return TopicHold(policy: policy, lanes: lanes, now: .zero)
    }

    private func refuse(_ hold: inout TopicHold, _ topic: String, uid: UInt64 = 1, at now: Duration = .zero)
        -> TopicHold.Refusal
    {
        hold.refused(
            topic, lane: 0, uid: UID(uid), words: "400 BadTopic", schedule, at: Moment(monotonic: now, wall: wall),
            random: 0.999)
    }

    private func check(_ hold: inout TopicHold, _ topic: String, uid: UInt64, lane: Int = 0, at now: Duration = .zero)
        -> TopicHold.Check
    {
        hold.check(topic, lane: lane, uid: UID(uid), connection: 1, now: now, limit: .seconds(60))
    }

    @Test("A refused topic waits, and others go") func others() {
        var hold = hold()
        #expect(hold.isEmpty)
        let refusal = refuse(&hold, "a")
        #expect(refusal.isNews)
        #expect(refusal.due.isPlaceOfTopic)
        #expect(check(&hold, "a", uid: 2) == .waits(until: refusal.due))
        #expect(check(&hold, "b", uid: 3) == .goes)
        #expect(hold.statuses.map(\.topic) == ["a"])
        #expect(hold.statuses[0].nextProbeAt != nil)
    }

    @Test("Each topic has a place of its own, and what went out with the first says nothing new") func places() {
        var hold = hold()
        let first = refuse(&hold, "a")
        let second = refuse(&hold, "b")
        #expect(first.due != second.due)
        let third = refuse(&hold, "a", uid: 3)
        #expect(third.due == first.due)
        #expect(!third.isNews)
        #expect(hold.wake == .seconds(1) * 0.9995)
    }

    @Test("A probe that comes to nothing waits behind the others, so that each is tried in its turn") func lostProbes()
    {
        var hold = hold()
        let refusal = refuse(&hold, "a")
        hold.look(schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(check(&hold, "a", uid: 2, at: .seconds(1)) == .goes)
        hold.lost(lane: 0, UID(2), schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        let behind = check(&hold, "a", uid: 2, at: .seconds(1))
        #expect(behind != .waits(until: refusal.due))
        #expect(check(&hold, "a", uid: 3, at: .seconds(1)) == .waits(until: refusal.due))
        hold.look(schedule, at: Moment(monotonic: .seconds(10), wall: wall), random: 0)
        #expect(check(&hold, "a", uid: 3, at: .seconds(10)) == .goes)
        hold.lost(connection: 1, schedule, at: Moment(monotonic: .seconds(10), wall: wall), random: 0)
        #expect(check(&hold, "a", uid: 3, at: .seconds(10)) == behind)
    }

    @Test("When the pause is over one entry goes, and one that is refused again makes the pause longer") func probes() {
        var hold = hold()
        let refusal = refuse(&hold, "a")
        hold.look(schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(check(&hold, "a", uid: 2, at: .seconds(1)) == .goes)
        #expect(hold.hasProbeOut)
        #expect(check(&hold, "a", uid: 3, at: .seconds(1)) == .waits(until: refusal.due))
        let again = refuse(&hold, "a", uid: 2, at: .seconds(2))
        #expect(!again.isNews)
        #expect(!hold.hasProbeOut)
        #expect(hold.wake == .seconds(2) + .seconds(2) * 0.9995)
    }

    @Test("A topic of which nothing waits any more when it is to be tried is as good as any other") func idle() throws {
        var hold = hold()
        let refusal = refuse(&hold, "a")
        hold.waits(until: refusal.due, lane: 0)
        hold.waits(until: refusal.due, lane: 1)
        hold.look(schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        hold.called(try #require(hold.call(lane: 0, limit: 100)), lane: 0, count: 0)
        #expect(hold.statuses.count == 1)
        hold.called(try #require(hold.call(lane: 1, limit: 100)), lane: 1, count: 0)
        #expect(hold.isEmpty && hold.statuses.isEmpty)
        #expect(check(&hold, "a", uid: 9) == .goes)
        #expect(refuse(&hold, "a", uid: 9).isNews)
    }

    @Test("A topic of which all was taken back while its probe was out is forgotten soon after")
    func leftByAll() {
        var hold = hold()
        hold.waits(until: refuse(&hold, "a").due, lane: 0)
        for second in [1, 3, 7, 15, 31, 63] {
            hold.look(schedule, at: Moment(monotonic: .seconds(second), wall: wall), random: 0.999)
            #expect(check(&hold, "a", uid: 2, at: .seconds(second)) == .goes)
            let due = refuse(&hold, "a", uid: 2, at: .seconds(second)).due
            if second < 63 { hold.waits(until: due, lane: 0) }
        }
        // Nothing is put back, and the two places are found to be empty.
        for place in hold.places(inLane: 0) { hold.emptied(place, lane: 0) }
        #expect(hold.statuses.count == 1 && hold.wake == .seconds(68))
        hold.look(schedule, at: Moment(monotonic: .seconds(67), wall: wall), random: 0)
        #expect(hold.statuses.count == 1)
        hold.look(schedule, at: Moment(monotonic: .seconds(68), wall: wall), random: 0)
        #expect(hold.isEmpty)
    }

    @Test(
        "A topic that is refused for now, and of which nothing waits any more, is told no longer, and again with the next"
    )
    func deserted() {
        var hold = hold()
        func refuse(_ uid: UInt64, at seconds: Int64) -> WallTime {
            hold.refused(
                "a", lane: 0, uid: UID(uid), cause: .refusals, words: "429", schedule, atLeast: .seconds(60),
                at: Moment(monotonic: .seconds(seconds), wall: wall), random: 0
            ).due
        }
        let due = refuse(1, at: 0)
        hold.waits(until: due, lane: 0)
        hold.emptied(due, lane: 0)
        #expect(hold.statuses.count == 1 && hold.wake == .seconds(5))
        hold.look(schedule, at: Moment(monotonic: .seconds(5), wall: wall), random: 0)
        #expect(hold.statuses.isEmpty && hold.isSetAside("a") && hold.wake == .seconds(60))
        #expect(check(&hold, "a", uid: 2, at: .seconds(6)) == .waits(until: due))
        hold.waits(until: due, lane: 0)
        #expect(hold.statuses.count == 1)
    }

    @Test("A topic whose first entries are not on disk yet when it is to be tried stays set aside") func unwritten() {
        var hold = hold()
        let refusal = refuse(&hold, "a")
        hold.look(schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(hold.statuses.count == 1)
        hold.waits(until: refusal.due, lane: 0)
        #expect(hold.call(lane: 0, limit: 100)?.isForProbe == true)
    }

    @Test("A probe that is taken brings the topic back, and its entries are called back, those of each lane")
    func back() {
        var hold = hold()
        let refusal = refuse(&hold, "a")
        hold.waits(until: refusal.due, lane: 0)
        hold.waits(until: refusal.due, lane: 1)
        #expect(hold.call(lane: 0, limit: 100) == nil)
        hold.look(schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(hold.call(lane: 0, limit: 100)?.limit == 1)
        #expect(check(&hold, "a", uid: 2) == .goes)
        #expect(hold.taken(lane: 0, UID(3)) == nil)
        #expect(hold.taken(lane: 0, UID(2)) == "a")
        #expect(check(&hold, "a", uid: 4) == .goes)
        for lane in 0..<2 {
            let call = hold.call(lane: lane, limit: 100)
            #expect(call?.limit == 100)
            #expect(call?.through == refusal.due)
            if let call { hold.called(call, lane: lane, count: 0) }
            #expect(hold.call(lane: lane, limit: 100) == nil)
        }
        #expect(hold.isEmpty)
    }

    @Test("A probe that failed goes behind all others of its topic, and is tried again when they have been")
    func rotates() {
        var hold = hold()
        let first = refuse(&hold, "a")
        hold.waits(until: first.due, lane: 0)
        hold.waits(until: first.due, lane: 1)
        var now = Duration.zero
        /// The next probe comes from this lane's place, and fails.
        func failNext(lane: Int, uid: UInt64) -> WallTime {
            now += .seconds(700)
            hold.look(schedule, at: Moment(monotonic: now, wall: wall), random: 0)
            #expect(check(&hold, "a", uid: uid, lane: lane, at: now) == .goes)
            let refusal = hold.refused(
                "a", lane: lane, uid: UID(uid), words: "again", schedule, at: Moment(monotonic: now, wall: wall),
                random: 0)
            hold.waits(until: refusal.due, lane: lane)
            return refusal.due
        }
        let tried = failNext(lane: 0, uid: 1)
        #expect(tried != first.due)
        hold.look(schedule, at: Moment(monotonic: now + .seconds(700), wall: wall), random: 0)
        #expect(hold.call(lane: 0, limit: 9)?.through == first.due)
        // Nothing is left there in the one lane, and something in the other.
        if let call = hold.call(lane: 0, limit: 9) { hold.called(call, lane: 0, count: 0) }
        #expect(hold.call(lane: 0, limit: 9) == nil)
        #expect(hold.call(lane: 1, limit: 9)?.through == first.due)
        #expect(failNext(lane: 1, uid: 2) == tried)
        hold.look(schedule, at: Moment(monotonic: now + .seconds(700), wall: wall), random: 0)
        if let call = hold.call(lane: 1, limit: 9) { hold.called(call, lane: 1, count: 0) }
        // The sides have changed.
        #expect(hold.call(lane: 0, limit: 9)?.through == tried)
        #expect(failNext(lane: 0, uid: 1) == first.due)
    }

    @Test("What may be tried without a pause goes at once, one by one, and a sweep brings back nothing new")
    func spare() {
        var hold = hold()
        let refusal = hold.refused(
            "a", lane: 0, uid: UID(1), cause: .tokens, words: "bad", spare: 1, schedule,
            at: Moment(monotonic: .zero, wall: wall),
            random: 0.999)
        #expect(hold.isSetAsideForTokens("a"))
        #expect(check(&hold, "a", uid: 2) == .goes)
        #expect(hold.causeTried(lane: 0, UID(2)) == .tokens)
        let third = check(&hold, "a", uid: 3)
        #expect(third != .goes && third != .waits(until: refusal.due))
        hold.ended(lane: 0, UID(2))
        #expect(check(&hold, "a", uid: 4) == .goes)
        _ = hold.refused(
            "a", lane: 0, uid: UID(4), words: nil, schedule, at: Moment(monotonic: .zero, wall: wall), random: 0.999)
        #expect(check(&hold, "a", uid: 5) == third)
        #expect(hold.statuses.map(\.reason) == ["bad"])
    }

    @Test(
        "Those whose tokens were called bad before are tried again behind all others, and at once where there are none")
    func calledBadBefore() {
        for hasOthers in [true, false] {
            var hold = hold()
            let bad = hold.refused(
                "a", lane: 0, uid: UID(1), cause: .tokens, words: "bad", schedule,
                at: Moment(monotonic: .zero, wall: wall), random: 0.999
            )
            hold.waits(until: bad.due, lane: 0)
            var first = bad.due
            if hasOthers, case .waits(let due) = check(&hold, "a", uid: 2) {
                hold.waits(until: due, lane: 0)
                first = due
            }
            #expect((first != bad.due) == hasOthers)
            hold.look(schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
            #expect(hold.call(lane: 0, limit: 9)?.through == first)
        }
    }

    @Test("A probe without an answer is followed by another one, and so is one whose connection ends") func lost() {
        var hold = hold()
        _ = refuse(&hold, "a")
        hold.look(schedule, at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(check(&hold, "a", uid: 2, at: .seconds(1)) == .goes)
        hold.look(schedule, at: Moment(monotonic: .seconds(61), wall: wall), random: 0)
        #expect(!hold.hasProbeOut)
        hold.look(schedule, at: Moment(monotonic: .seconds(62), wall: wall), random: 0)
        #expect(check(&hold, "a", uid: 2, at: .seconds(62)) == .goes)
        hold.lost(connection: 2, schedule, at: Moment(monotonic: .seconds(62), wall: wall), random: 0)
        #expect(hold.hasProbeOut)
        hold.lost(connection: 1, schedule, at: Moment(monotonic: .seconds(62), wall: wall), random: 0)
        #expect(!hold.hasProbeOut)
    }

    @Test("Beyond the limit a topic of which nothing waits is forgotten, else entries wait one by one") func limit() {
        var hold = hold(greatest: 2)
        let first = refuse(&hold, "a")
        hold.waits(until: first.due, lane: 0)
        _ = refuse(&hold, "b", at: .seconds(1))
        let third = refuse(&hold, "c", at: .seconds(2))
        #expect(third.isNews)
        #expect(hold.statuses.map(\.topic) == ["a", "c"])
        hold.waits(until: third.due, lane: 0)
        let fourth = refuse(&hold, "d", at: .seconds(3))
        #expect(!fourth.due.isPlaceOfTopic)
        #expect(fourth.due == wall.advanced(by: .seconds(600)))
        #expect(check(&hold, "d", uid: 9) == .goes)
    }

    @Test("A sweep moves what waits to the other generation, and only once") func sweep() {
        var hold = hold()
        let refusal = refuse(&hold, "a")
        hold.waits(until: refusal.due, lane: 0)
        hold.look(schedule, at: Moment(monotonic: .seconds(3600), wall: wall), random: 0)
        let call = hold.call(lane: 0, limit: 100)
        #expect(call.map { $0.after < refusal.due && refusal.due <= $0.through } == true)
        let moved = refuse(&hold, "a", uid: 2, at: .seconds(3600))
        #expect(call.map { moved.due <= $0.through } == false)
        hold.waits(until: moved.due, lane: 0)
        if let call { hold.called(call, lane: 0, count: 0) }
        #expect(hold.reason(lane: 0) == nil)
        #expect(hold.call(lane: 0, limit: 100)?.limit == 1)
    }

    @Test("What an earlier process left in places is looked through, both generations") func lookThrough() {
        var hold = hold()
        hold.found(lane: 1)
        #expect(hold.wantsConnection(lane: 1))
        #expect(!hold.wantsConnection(lane: 0))
        var calls: [TopicHold.Call] = []
        while let call = hold.call(lane: 1, limit: 10), calls.count < 5 {
            calls.append(call)
            hold.called(call, lane: 1, count: 0)
        }
        #expect(calls.count == 2)
        #expect(calls.map(\.after).min().map { $0 < TopicHold.firstDue } == true)
        #expect(!hold.wantsConnection(lane: 1))
    }

    @Test("A probe that is due wants a connection, although its lane is still to be looked through")
    func probeBehindLookThrough() {
        var hold = hold()
        let refusal = refuse(&hold, "a")
        hold.waits(until: refusal.due, lane: 0)
        hold.lookThrough(lane: 0)
        #expect(!hold.wantsConnection(lane: 0))
        hold.hurry(at: Moment(monotonic: .zero, wall: wall))
        #expect(hold.wantsConnection(lane: 0))
        #expect(!hold.wantsConnection(lane: 1))
    }

    @Test("What may be mended is tried at once") func hurry() {
        var hold = hold()
        _ = refuse(&hold, "a")
        hold.hurry(at: Moment(monotonic: .zero, wall: wall))
        #expect(check(&hold, "a", uid: 2) == .goes)
    }
}
