import HoldfastPostgres
import Testing

@Suite("When the outbox is looked at")
struct OutboxPaceTests {
    @Test("Behind a refusal one submission is under way at most, until nothing waits of what was refused")
    func refusal() {
        var pace = OutboxPace()
        #expect(pace.mostUnderWay == 2)
        _ = pace.wasRefused()
        #expect(pace.mostUnderWay == 1)
        pace.nothingWaits()
        #expect(pace.mostUnderWay == 2)
    }

    @Test("What has no room is halved, down to a few rows, and doubles with what is taken")
    func parts() {
        var pace = OutboxPace(batch: 1000)
        var parts: [Int] = []
        for _ in 0..<8 {
            pace.hadNoRoom()
            parts.append(pace.part)
        }
        #expect(parts == [500, 250, 125, 62, 31, 15, 8, 8])
        for _ in 0..<8 { pace.wasTaken() }
        #expect(pace.part == 1000)
        var small = OutboxPace(batch: 3)
        small.hadNoRoom()
        #expect(small.part == 3)
    }

    @Test("Pauses behind refusals double up to two seconds, and begin anew when something was claimed")
    func pauses() {
        var pace = OutboxPace()
        var pauses: [Duration] = []
        for _ in 0..<9 { pauses.append(pace.wasRefused()) }
        #expect(pauses.prefix(2) == [.milliseconds(20), .milliseconds(40)])
        #expect(pauses.suffix(2) == [.seconds(2), .seconds(2)])
        pace.found()
        let next = pace.wasRefused()
        #expect(next == .milliseconds(20))
    }
}
