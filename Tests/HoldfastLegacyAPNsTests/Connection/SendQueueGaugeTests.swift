import Testing

@testable import HoldfastLegacyAPNs

@Suite("How far what was written has left") struct SendQueueGaugeTests {
    @Test("A position has left when the peer has taken all bytes up to its end") func leaves() {
        var gauge = SendQueueGauge()
        gauge.written(through: 3, bytes: 1000)
        gauge.written(through: 7, bytes: 2500)
        #expect(gauge.look(acknowledged: 999).sentThrough == nil)
        #expect(gauge.isWaiting)
        #expect(gauge.look(acknowledged: 1000).sentThrough == 3)
        #expect(gauge.look(acknowledged: 2499).sentThrough == nil)
        #expect(gauge.look(acknowledged: 2500).sentThrough == 7)
        #expect(!gauge.isWaiting)
    }

    @Test("One look tells of several writes at once") func several() {
        var gauge = SendQueueGauge()
        for number in 1...200 as ClosedRange<UInt64> { gauge.written(through: number, bytes: number * 10) }
        #expect(gauge.look(acknowledged: 1999).sentThrough == 199)
        #expect(gauge.look(acknowledged: 2000).sentThrough == 200)
    }

    @Test("Whether the peer took anything is told, also where nothing is complete") func moves() {
        var gauge = SendQueueGauge()
        gauge.written(through: 1, bytes: 100)
        #expect(gauge.look(acknowledged: 50).hasMoved)
        #expect(!gauge.look(acknowledged: 50).hasMoved)
        #expect(gauge.look(acknowledged: 51).hasMoved)
    }
}
