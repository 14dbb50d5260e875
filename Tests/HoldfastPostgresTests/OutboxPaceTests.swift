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
