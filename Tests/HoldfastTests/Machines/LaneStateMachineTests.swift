import Testing

@testable import Holdfast

@Suite struct LaneStateMachineTests {
    private func lane(_ guarantee: Guarantee, mark: UInt64 = 0, last: UInt64 = 0) -> LaneStateMachine {
        LaneStateMachine(
            key: LaneKey(route: "r", urgency: .immediate, guarantee: guarantee),
            opening: LaneOpening(id: LaneID(rawValue: 0), markAtOpen: UID(mark), lastUID: UID(last)), lookahead: 10)
    }

    @Test("Nothing goes out before the mark covers it") func markFirst() {
        var lane = lane(.atLeastOnce, last: 100)
        #expect(lane.nextStep(limit: 5) == .peek(after: UID(0)))
        #expect(lane.raise(through: UID(7)) == UID(17))
        #expect(lane.raise(through: UID(7)) == nil)
        lane.committed(lastUID: UID(100), mark: UID(17))
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(17)))
    }

    @Test("At most once, the mark rises exactly to what goes out") func exactMark() {
        var lane = lane(.atMostOnce, last: 100)
        #expect(lane.raiseAhead() == nil)
        #expect(lane.raise(through: UID(3)) == UID(3))
        lane.committed(lastUID: UID(100), mark: UID(3))
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(3)))
        lane.advance(to: UID(3))
        #expect(lane.nextStep(limit: 5) == .peek(after: UID(3)))
    }

    @Test("The mark stays one to two lookaheads before the reading") func ahead() {
        var lane = lane(.atLeastOnce, last: 1000)
        #expect(lane.raiseAhead() == UID(20))
        #expect(lane.raiseAhead() == nil)
        lane.committed(lastUID: UID(1000), mark: UID(20))
        lane.advance(to: UID(10))
        #expect(lane.raiseAhead() == nil)
        lane.advance(to: UID(11))
        #expect(lane.raiseAhead() == UID(31))
    }

    @Test("What goes again goes first, in order, and once") func requeue() {
        var lane = lane(.atLeastOnce, mark: 50, last: 50)
        lane.advance(to: UID(50))
        lane.requeue([.init(uid: UID(9), possiblySent: true), .init(uid: UID(7), possiblySent: false)])
        lane.requeue([.init(uid: UID(9), possiblySent: false), .init(uid: UID(8), possiblySent: false)])
        guard case .readAgain(let again) = lane.nextStep(limit: 2) else {
            Issue.record("expected readAgain")
            return
        }
        #expect(again.map(\.uid) == [UID(7), UID(8)])
        lane.takeAgain(again)
        #expect(lane.nextStep(limit: 2) == .readAgain([.init(uid: UID(9), possiblySent: true)]))
    }

    @Test("A stopped lane gives nothing and asks for nothing, and goes on where it was") func stop() {
        var lane = lane(.atLeastOnce, mark: 50, last: 50)
        lane.stop("no key")
        #expect(lane.nextStep(limit: 5) == .none)
        #expect(lane.raiseAhead() == nil)
        lane.resume()
        #expect(lane.nextStep(limit: 5) == .read(after: UID(0), through: UID(50)))
    }

    @Test("What goes again waits for the mark as well: it may lie above it after an orderly end") func againCovered() {
        var lane = lane(.atMostOnce, mark: 10, last: 50)
        lane.advance(to: UID(50))
        lane.requeue([8, 10, 11].map { .init(uid: UID($0), possiblySent: false) })
        guard case .readAgain(let again) = lane.nextStep(limit: 5) else {
            Issue.record("expected readAgain")
            return
        }
        #expect(lane.covered(again) == 2)
        #expect(lane.raise(through: UID(11)) == UID(11))
    }

    @Test("While nothing can go out, the mark of a lane with one attempt steps back to the hand-outs") func retreat() {
        var lane = lane(.atMostOnce, last: 100)
        #expect(lane.retreat() == nil)
        _ = lane.raise(through: UID(10))
        lane.committed(lastUID: UID(100), mark: UID(10))
        lane.advance(to: UID(4))
        #expect(lane.retreat() == UID(4))
        #expect(lane.retreat() == nil)
        // Nothing goes out before that is on disk.
        #expect(lane.nextStep(limit: 5) == .none)
        lane.committed(lastUID: UID(100), mark: UID(4))
        lane.markLowered()
        #expect(lane.nextStep(limit: 5) == .peek(after: UID(4)))
        #expect(lane.raise(through: UID(10)) == UID(10))
    }

    @Test("A mark of an earlier process is not lowered before the reading has passed it") func retreatAfterOpening() {
        var lane = lane(.atMostOnce, mark: 10, last: 100)
        lane.advance(to: UID(9))
        #expect(lane.retreat() == nil)
        #expect(lane.retreatToRest() == nil)
        lane.advance(to: UID(10))
        _ = lane.raise(through: UID(20))
        #expect(lane.retreat() == UID(10))
    }

    @Test("A lane with several attempts keeps its mark ahead until the orderly end") func retreatToRest() {
        var lane = lane(.atLeastOnce, last: 100)
        _ = lane.raiseAhead()
        lane.committed(lastUID: UID(100), mark: UID(20))
        lane.advance(to: UID(9))
        #expect(lane.retreat() == nil)
        lane.requeue([.init(uid: UID(5), possiblySent: true), .init(uid: UID(7), possiblySent: false)])
        #expect(lane.retreatToRest() == UID(5))
    }

    @Test("A deferred entry of an earlier process that comes back below the mark goes once, as never sent")
    func ahead2() {
        var lane = lane(.atLeastOnce, mark: 10, last: 20)
        lane.promoted([UID(3), UID(15)])
        // 15 lies above the mark as it was at opening: the reading comes to it.
        #expect(lane.nextStep(limit: 5) == .readAgain([.init(uid: UID(3), possiblySent: false)]))
        lane.takeAgain([.init(uid: UID(3), possiblySent: false)])
        var batch = EntryBatch(bytes: [], items: [2, 3, 4].map { .init(uid: UID($0), attempts: 0, range: 0..<0) })
        #expect(lane.passOver(in: batch) == [1])
        batch = EntryBatch(bytes: [], items: [.init(uid: UID(3), attempts: 0, range: 0..<0)])
        #expect(lane.passOver(in: batch) == [])
    }

    @Test("A paused lane that is stopped stays stopped, and a stopped one can't be paused") func statuses() {
        var lane = lane(.atLeastOnce)
        lane.pause()
        #expect(lane.standsStillBecause == "paused")
        lane.stop("no key")
        lane.pause()
        #expect(lane.standsStillBecause == "no key")
        lane.resume()
        #expect(lane.standsStillBecause == nil)
    }
}
