import Holdfast
import HoldfastControl
import Testing

@testable import HoldfastService

@Suite("Samples of the operators' page")
struct PageSamplesTests {
    @Test("An hour is kept, and no more") func bounded() {
        let samples = PageSamples()
        for second in 0..<(PageSamples.limit + 10) {
            samples.show(PageSamples.Sample(at: ExactTime(WallTime(seconds: Int64(second))), seconds: 1))
            #expect(samples.current != nil)
            samples.keep(PageSamples.Sample(at: ExactTime(WallTime(seconds: Int64(second))), seconds: 10))
        }
        #expect(samples.form.samples.count == PageSamples.limit && samples.current == nil)
        #expect(samples.form.samples.first?.at.value == WallTime(seconds: 10))
    }

    @Test("A service's reasons are counted apart as long as they are few") func reasons() {
        let meter = PageMeter()
        let before = meter.current
        for number in 0..<1000 { meter.rejected(1, reason: Reason(rawValue: "Reason\(number)"), route: "a") }
        meter.rejected(5, reason: Reason(rawValue: "Reason1"), route: "b")
        meter.accepted(7)
        let counts = meter.current.since(before)
        #expect(counts.rejected.count == 201 && counts.rejected.values.reduce(0, +) == 1005)
        #expect(counts.rejected["Reason1"] == 6 && counts.rejected[PageMeter.others] == 800 && counts.accepted == 7)
        #expect(meter.current.since(meter.current).rejected.isEmpty)
    }
}
