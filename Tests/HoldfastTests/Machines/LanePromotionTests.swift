import Testing

@testable import Holdfast

/// A lane's reading while deferred entries are being brought back.
@Suite struct LanePromotionTests {
    /// A lane that was left with deferred entries, of which 100 may go.
    private func lane(_ guarantee: Guarantee) -> LaneStateMachine {
        var lane = LaneStateMachine(
            key: LaneKey(route: "r", urgency: .immediate, guarantee: guarantee),
            opening: LaneOpening(id: LaneID(rawValue: 1), markAtOpen: UID(100), lastUID: UID(100)), lookahead: 10)
        lane.committed(lastUID: UID(100), mark: UID(100))
        return lane
    }

    @Test("Until the word of a promotion comes nothing is read that it may have written", arguments: Guarantee.allCases)
    func exclusive(_ guarantee: Guarantee) {
        var lane = lane(guarantee)
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(100)))
        lane.beginPromotion(places: 5)
        #expect(lane.nextStep(limit: 5) == .none)
        lane.endPromotion()
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(100)))
    }

    @Test("What goes again goes out during a promotion: it was read before") func again() {
        var lane = lane(.atLeastOnce)
        lane.advance(to: UID(3))
        lane.requeue([.init(uid: UID(2), possiblySent: true)])
        lane.beginPromotion()
        #expect(lane.nextStep(limit: 5) == .readAgain([.init(uid: UID(2), possiblySent: true)]))
    }

    @Test("While scheduled entries come back nothing is read: they may be newer than all that was deferred")
    func scheduled() {
        var lane = lane(.atLeastOnce)
        lane.advance(to: UID(100))
        lane.committed(lastUID: UID(110), mark: UID(110))
        lane.beginPromotion(ofScheduled: true)
        #expect(lane.nextStep(limit: 5) == .none)
        lane.endPromotion()
        lane.beginPromotion()
        #expect(lane.nextStep(limit: 5) == .read(after: UID(100), through: UID(110)))
    }

    @Test("Behind all that may be deferred the reading goes on, until an operator puts more in") func behind() {
        var lane = lane(.atLeastOnce)
        lane.advance(to: UID(100))
        lane.committed(lastUID: UID(110), mark: UID(110))
        lane.beginPromotion()
        #expect(lane.nextStep(limit: 5) == .read(after: UID(100), through: UID(110)))
        lane.beginRestoring()
        #expect(lane.nextStep(limit: 5) == .none)
        lane.endPromotion()
        lane.endRestoring(1)
        #expect(lane.nextStep(limit: 5) == .read(after: UID(100), through: UID(110)))
    }
}
