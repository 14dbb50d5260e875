import Testing

@testable import Holdfast

@Suite struct ClockHoldTests {
    private let wall = WallTime(seconds: 1_800_000_000)

    @Test("What is held in one period of distrust has one due time, and is called when the opinion changes")
    func period() {
        var hold = ClockHold()
        let due = hold.hold(lane: 1, distrustedUntil: .seconds(600), wall: wall)
        let other = hold.hold(lane: 2, distrustedUntil: .seconds(600), wall: wall)
        #expect(other == due)
        #expect(hold.call(lane: 1) == nil)
        hold.look(distrustedUntil: nil)
        #expect(hold.call(lane: 1) == due)
        #expect(hold.call(lane: 2) == due)
        #expect(hold.call(lane: 3) == nil)
        hold.called(due, lane: 1, count: 5)
        #expect(hold.call(lane: 1) == due)
        hold.called(due, lane: 1, count: 0)
        #expect(hold.call(lane: 1) == nil)
    }

    @Test("A clock that is set twice at once leaves nothing waiting for the first time it showed") func twice() {
        var hold = ClockHold()
        let days = Duration.seconds(31 * 86_400)
        let first = hold.hold(lane: 1, distrustedUntil: .seconds(600), wall: wall.advanced(by: days))
        let second = hold.hold(lane: 1, distrustedUntil: .seconds(600), wall: wall)
        #expect(second == wall.advanced(by: ClockHold.distance))
        #expect(hold.call(lane: 1) == first)
    }

    @Test("What is called and has to wait once more does not wait for what is being called: that would never end")
    func again() {
        var hold = ClockHold()
        let first = hold.hold(lane: 1, distrustedUntil: .seconds(600), wall: wall)
        // The clock is set to and fro: another period of distrust, with the same time to be due at.
        hold.look(distrustedUntil: .seconds(700))
        #expect(hold.call(lane: 1) == first)
        let second = hold.hold(
            lane: 1, distrustedUntil: .seconds(700), wall: wall.advanced(by: .seconds(-100)))
        #expect(second != first)
        hold.called(first, lane: 1, count: 0)
        #expect(hold.call(lane: 1) == nil)
    }
}
