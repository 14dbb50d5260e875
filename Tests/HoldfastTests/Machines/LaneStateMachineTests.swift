import Testing

@testable import Holdfast

@Suite struct LaneStateMachineTests {
    private let now = WallTime(seconds: 1)

    private func lane(
        _ guarantee: Guarantee, mark: UInt64 = 0, last: UInt64 = 0, state: LaneState = .running
    ) -> LaneStateMachine {
        LaneStateMachine(
            key: LaneKey(route: "r", urgency: .immediate, guarantee: guarantee),
            opening: LaneOpening(
                id: LaneID(rawValue: 0), markAtOpen: UID(mark), lastUID: UID(last), state: state),
            lookahead: 10)
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
        lane.stop("no key", since: now)
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

    @Test("Behind what goes again in a lane with one attempt, the entries on disk still want their turn")
    func wantsForwardPlaces() {
        var lane = lane(.atMostOnce, mark: 10, last: 50)
        lane.advance(to: UID(10))
        lane.requeue([.init(uid: UID(8), possiblySent: false)])
        // They get no places before it has gone; but others wait, so that an accused one does not go before them.
        #expect(!lane.wantsPlaces)
        #expect(lane.wantsForwardPlaces)
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

    @Test(
        "What a mark has covered keeps its places until it is on disk that the mark has stepped back, or could not",
        arguments: [true, false])
    func placesWhileLowering(_ isLowered: Bool) {
        var lane = lane(.atMostOnce, last: 100)
        _ = lane.raise(through: UID(10), places: 10)
        lane.committed(lastUID: UID(100), mark: UID(10))
        lane.advance(to: UID(4), count: 4)
        #expect(lane.keptPlaces == 6)
        _ = lane.retreat()
        #expect(lane.keptPlaces == 6)
        #expect(lane.fillablePlaces == 0)
        lane.committed(lastUID: UID(100), mark: isLowered ? UID(4) : UID(10))
        lane.markLowered(isLowered)
        #expect(lane.keptPlaces == (isLowered ? 0 : 6))
        #expect(lane.fillablePlaces == (isLowered ? 0 : 6))
    }

    @Test(
        "What was asked of a mark before its step back, and not written yet, is asked again for what waits above it",
        arguments: [true, false])
    func askedAgain(_ isLowered: Bool) {
        var lane = lane(.atMostOnce, last: 100)
        _ = lane.raise(through: UID(10), places: 1)
        lane.committed(lastUID: UID(100), mark: UID(10))
        lane.advance(to: UID(10), count: 1)
        _ = lane.raise(through: UID(20), places: 1)
        // An entry of a promotion moves the reading on without the mark: it lies below it, and goes again.
        lane.advance(to: UID(15))
        #expect(lane.retreat() == UID(15))
        lane.markLowered(isLowered)
        lane.requeue([.init(uid: UID(15), possiblySent: false)])
        #expect(lane.nextStep(limit: 5) == .readAgain([.init(uid: UID(15), possiblySent: false)]))
        #expect(lane.raise(through: UID(15)) == UID(15))
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

    @Test("An operator's pause is stronger than a stop, whichever comes first") func states() {
        var lane = lane(.atLeastOnce)
        lane.stop("no key", since: now)
        #expect(lane.state == .stopped(reason: "no key", since: now))
        lane.pause("on call", since: now)
        #expect(lane.state.standsStillBecause == "paused: on call")
        lane.stop("no key", since: now)
        #expect(lane.state == .paused(reason: "on call", since: now))
        lane.resume()
        #expect(lane.isRunning)
    }

    @Test("A start keeps a pause, and tries a stopped lane again") func opening() {
        let paused = lane(.atLeastOnce, state: .paused(reason: "", since: now))
        #expect(paused.state.standsStillBecause == "paused")
        #expect(!paused.wasStopped)
        let stopped = lane(.atLeastOnce, state: .stopped(reason: "no key", since: now))
        #expect(stopped.isRunning)
        #expect(stopped.wasStopped)
    }

    @Test("An entry waits until it is handed out, and what an earlier process may have sent is told apart") func waits()
    {
        var lane = lane(.atLeastOnce, mark: 10, last: 20)
        #expect([5, 10, 11, 20].map { lane.waits(UID($0)) } == [true, true, false, false])
        lane.advance(to: UID(15))
        #expect(lane.waits(UID(11)) == nil)
        lane.requeue([.init(uid: UID(11), possiblySent: true), .init(uid: UID(13), possiblySent: false)])
        #expect([11, 12, 13].map { lane.waits(UID($0)) } == [true, nil, false])
        #expect(lane.goesAgain(UID(16)) == nil)
    }
}
