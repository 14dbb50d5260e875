import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Engines that share the rate of a route") struct EnginesOfOneRateTests {
    private let limit = RateLimit(perSecond: 10, burst: 5)

    private func bench(_ clock: ManualClock, _ rates: SharedRates) throws -> Bench {
        let bench = try Bench(clock: clock, rate: limit, rates: rates)
        bench.answer = { _ in .confirmed }
        return bench
    }

    @Test("Two on one host send together what one may, and each gets of it; what one does not use is the other's")
    func two() throws {
        let (clock, rates) = (ManualClock(), SharedRates())
        let benches = [try bench(clock, rates), try bench(clock, rates)]
        for bench in benches { try bench.submit(0..<500) }
        // Ten seconds, in turn.
        for _ in 0..<135 { for bench in benches { bench.advance(by: .milliseconds(37)) } }
        let sent = benches.map(\.sent.count)
        #expect((90...105).contains(sent[0] + sent[1]), "\(sent)")
        #expect(sent.allSatisfy { $0 > 10 }, "\(sent)")

        let alone = try bench(clock, rates)
        try alone.submit(0..<500)
        alone.advance(by: .seconds(10))
        #expect((90...105).contains(alone.sent.count), "\(alone.sent.count)")
    }

    @Test("One that works goes on at another rate as soon as hosts come and go") func divided() throws {
        let rates = SharedRates(hosts: 2)
        let bench = try bench(ManualClock(), rates)
        try bench.submit(0..<1000)
        var before = 0
        func sent(in seconds: Int) -> Int {
            bench.advance(by: .seconds(seconds))
            defer { before = bench.sent.count }
            return bench.sent.count - before
        }
        #expect((45...52).contains(sent(in: 10)))
        rates.divide(among: 10)
        #expect((9...11).contains(sent(in: 10)))
        rates.divide(among: 1)
        #expect((95...105).contains(sent(in: 10)))
    }
}
