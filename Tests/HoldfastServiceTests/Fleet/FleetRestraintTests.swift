import Holdfast
import HoldfastPostgres
import Logging
import Testing

@testable import HoldfastService

@Suite("Whether a host takes what others could send")
struct FleetRestraintTests {
    private func restraint(hosts: Int, isFull: Bool, areOthersFull: Bool = false) -> FleetRestraint {
        let rates = FleetRates(.system, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let others = (1..<hosts).map { number in
            ListedJournal(
                id: Int32(number), name: "web-\(number)", host: "web-\(number)",
                sighting: Sighting(epoch: 1, beats: 1, isFree: false), isClosed: false)
        }
        rates.looked(others, mine: [100])
        return FleetRestraint(
            .system, rates, isFull: { isFull }, areOthersFull: { areOthersFull },
            wallClock: { FleetClock(offset: nil) }, engines: { [] })
    }

    @Test("One whose journal has no room claims nothing, takes over late, gives free what it holds, and says so")
    func full() {
        let full = restraint(hosts: 2, isFull: true)
        #expect(full.room == 0 && full.delay == TakingRule.delay && full.othersLive)
        let condition = full.condition(now: WallTime(seconds: 1))
        #expect(condition?.kind == .leftToOthers && condition?.cause == "full")
    }

    @Test("Where no host has room, none is named as one that takes, and it is a fault")
    func allFull() {
        let condition = restraint(hosts: 3, isFull: true, areOthersFull: true).condition(now: WallTime(seconds: 1))
        #expect(condition?.kind == .leftToOthers && condition?.severity == .fault)
        #expect(condition?.what.contains("neither has any other host") == true, "\(condition?.what ?? "")")
        let room = restraint(hosts: 3, isFull: false, areOthersFull: true)
        #expect(room.condition(now: WallTime(seconds: 1)) == nil)
    }

    @Test("Alone, it keeps what it has claimed, claims nothing more, and takes over at once")
    func alone() {
        let alone = restraint(hosts: 1, isFull: true)
        #expect(alone.room == 0 && alone.delay == .zero && !alone.othersLive)
        #expect(alone.condition(now: WallTime(seconds: 1)) == nil)
    }

    @Test("With room it takes all")
    func room() {
        let host = restraint(hosts: 2, isFull: false)
        #expect(host.room == .max && host.delay == .zero && host.condition(now: WallTime(seconds: 1)) == nil)
    }
}
