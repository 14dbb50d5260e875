import Testing

@testable import Holdfast

@Suite struct WallClockGuardTests {
    private let start = WallTime(seconds: 1_800_000_000)

    @Test("A clock that goes as time goes is trusted") func healthy() {
        var clock = WallClockGuard(wallTimeAtOpen: start)
        for second in 0..<1000 {
            #expect(clock.look(wall: start.advanced(by: .seconds(second)), monotonic: .seconds(second)) == nil)
        }
        #expect(clock.isTrusted)
    }

    @Test("A step of more than five minutes either way is distrusted for ten", arguments: [301, -301, 86_400 * 365])
    func step(_ seconds: Int) {
        var clock = WallClockGuard(wallTimeAtOpen: nil)
        _ = clock.look(wall: start, monotonic: .zero)
        #expect(clock.look(wall: start.advanced(by: .seconds(seconds)), monotonic: .zero) != nil)
        #expect(!clock.isTrusted)
        let wall = start.advanced(by: .seconds(seconds + 599))
        #expect(clock.look(wall: wall, monotonic: .seconds(599)) == nil)
        #expect(!clock.isTrusted)
        _ = clock.look(wall: wall.advanced(by: .seconds(1)), monotonic: .seconds(600))
        #expect(clock.isTrusted)
    }

    @Test("Five minutes are tolerated", arguments: [300, -300]) func tolerance(_ seconds: Int) {
        var clock = WallClockGuard(wallTimeAtOpen: nil)
        _ = clock.look(wall: start, monotonic: .zero)
        #expect(clock.look(wall: start.advanced(by: .seconds(seconds)), monotonic: .zero) == nil)
        #expect(clock.isTrusted)
    }

    @Test("Clock and time that both jump are no step: the machine slept") func slept() {
        var clock = WallClockGuard(wallTimeAtOpen: nil)
        _ = clock.look(wall: start, monotonic: .zero)
        #expect(clock.look(wall: start.advanced(by: .seconds(36_000)), monotonic: .seconds(36_000)) == nil)
        #expect(clock.isTrusted)
    }

    @Test("A start before the journal's last time is distrusted, and a second's slewing is not") func startsBefore() {
        var clock = WallClockGuard(wallTimeAtOpen: start.advanced(by: .seconds(2)))
        #expect(clock.look(wall: start, monotonic: .zero) != nil)
        #expect(!clock.isTrusted)
        var slewed = WallClockGuard(wallTimeAtOpen: start.advanced(by: .milliseconds(900)))
        #expect(slewed.look(wall: start, monotonic: .zero) == nil)
        #expect(slewed.isTrusted)
    }

    @Test("A start long after the journal's last time is distrusted too, without a warning, and five minutes are not")
    func startsAfter() {
        var clock = WallClockGuard(wallTimeAtOpen: start)
        guard case .unproven? = clock.look(wall: start.advanced(by: .seconds(172_800)), monotonic: .zero) else {
            Issue.record("expected a remark")
            return
        }
        #expect(!clock.isTrusted)
        #expect(clock.earliest(start.advanced(by: .seconds(172_801))) == start.advanced(by: .seconds(1)))
        _ = clock.look(wall: start.advanced(by: .seconds(173_400)), monotonic: .seconds(600))
        #expect(clock.isTrusted)
        #expect(clock.earliest(start.advanced(by: .seconds(173_400))) == start.advanced(by: .seconds(173_400)))
        var restarted = WallClockGuard(wallTimeAtOpen: start)
        #expect(restarted.look(wall: start.advanced(by: .seconds(300)), monotonic: .zero) == nil)
        #expect(restarted.isTrusted)
    }

    @Test("The earliest time that it may be is the one before all steps ahead; a step that mends one leaves none")
    func earliest() {
        var clock = WallClockGuard(wallTimeAtOpen: nil)
        _ = clock.look(wall: start, monotonic: .zero)
        _ = clock.look(wall: start.advanced(by: .seconds(7200)), monotonic: .zero)
        #expect(clock.earliest(start.advanced(by: .seconds(7200))) == start)
        _ = clock.look(wall: start.advanced(by: .seconds(10_810)), monotonic: .seconds(10))
        #expect(clock.earliest(start.advanced(by: .seconds(10_810))) == start.advanced(by: .seconds(10)))
        _ = clock.look(wall: start.advanced(by: .seconds(20)), monotonic: .seconds(20))
        #expect(clock.earliest(start.advanced(by: .seconds(20))) == start.advanced(by: .seconds(20)))
    }

    @Test("A second step while it is distrusted counts from then") func twice() {
        var clock = WallClockGuard(wallTimeAtOpen: nil)
        _ = clock.look(wall: start, monotonic: .zero)
        _ = clock.look(wall: start.advanced(by: .seconds(1000)), monotonic: .zero)
        _ = clock.look(wall: start.advanced(by: .seconds(500)), monotonic: .seconds(500))
        #expect(clock.distrustedUntil == .seconds(1100))
    }

    @Test(
        "What is remembered stands still while the clock is ahead, is unknown while it is behind, and goes on when believed"
    )
    func memory() {
        var clock = WallClockGuard(wallTimeAtOpen: nil)
        _ = clock.look(wall: start, monotonic: .zero)
        #expect(clock.memory == start)
        _ = clock.look(wall: start.advanced(by: .seconds(3600)), monotonic: .seconds(10))
        #expect(clock.memory == start)
        _ = clock.look(wall: start.advanced(by: .seconds(-3600)), monotonic: .seconds(20))
        #expect(clock.memory == WallClockGuard.unknown)
        _ = clock.look(wall: start.advanced(by: .seconds(-3001)), monotonic: .seconds(619))
        #expect(clock.memory == WallClockGuard.unknown)
        _ = clock.look(wall: start.advanced(by: .seconds(-3000)), monotonic: .seconds(620))
        #expect(clock.memory == start.advanced(by: .seconds(-3000)))
        var restarted = WallClockGuard(wallTimeAtOpen: start)
        _ = restarted.look(wall: start.advanced(by: .seconds(-60)), monotonic: .zero)
        #expect(restarted.memory == WallClockGuard.unknown)
        var late = WallClockGuard(wallTimeAtOpen: start)
        _ = late.look(wall: start.advanced(by: .seconds(3600)), monotonic: .zero)
        #expect(late.memory == nil)
    }

    @Test("After a last time that is unknown no clock is believed at once", arguments: [-86_400, 0, 86_400])
    func unknown(seconds: Int) {
        var clock = WallClockGuard(wallTimeAtOpen: WallClockGuard.unknown)
        let wall = start.advanced(by: .seconds(seconds))
        guard case .warning? = clock.look(wall: wall, monotonic: .zero) else {
            Issue.record("no warning")
            return
        }
        #expect(clock.distrustedUntil == .seconds(600))
        #expect(clock.earliest(wall) == WallClockGuard.unknown)
        #expect(clock.memory == WallClockGuard.unknown)
        _ = clock.look(wall: wall.advanced(by: .seconds(600)), monotonic: .seconds(600))
        #expect(clock.isTrusted && clock.memory == wall.advanced(by: .seconds(600)))
    }
}
