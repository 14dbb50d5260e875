import Holdfast
import Testing

@testable import HoldfastService

@Suite("A wall clock beside the database's")
struct FleetClockTests {
    @Test("A clock that is off by five minutes or more is told, with the direction")
    func off() {
        for seconds in [-299, 0, 299] { #expect(!FleetClock(offset: .seconds(seconds)).isOff) }
        let ahead = FleetClock(offset: .seconds(7205)).condition(now: WallTime(seconds: 5))
        #expect(ahead?.kind == .clockDistrusted && ahead?.command == "timedatectl")
        #expect(ahead?.what.contains("this machine's clock is 2 h ahead of the database's") == true)
        #expect(FleetClock(offset: .seconds(-300)).words == "this machine's clock is 5 min behind the database's")
    }

    @Test("Before the database was asked, nothing is told")
    func unknown() {
        let clock = FleetClock(offset: nil)
        #expect(!clock.isOff && clock.words == nil && clock.condition(now: WallTime(seconds: 5)) == nil)
    }
}
