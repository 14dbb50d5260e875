import Holdfast
import HoldfastPostgres
import Testing

@Suite("Leases against a model")
struct LeaseModelTests {
    /// A step of the model may be late by any time, and clocks differ by almost the factor of the times.
    @Test("Two hosts never hand out at one instant, whatever is late, lost or paused")
    func neverTwo() {
        var takeovers = 0
        var failures = 0
        var holdings = 0
        for seed in 0..<120 {
            var model = LeaseModel(seed: UInt64(seed), hosts: 2 + seed % 3, trouble: Double(seed % 6) / 5)
            model.run(until: 600)
            #expect(model.doubles == 0, "seed \(seed)")
            takeovers += model.takeovers
            failures += model.failures
            holdings += model.holdings
        }
        // The model is no empty one.
        #expect(takeovers > 500, "\(takeovers) takeovers")
        #expect(failures > 1000, "\(failures) calls failed")
        #expect(holdings > 10_000, "somebody handed out at \(holdings) instants")
    }

    @Test("A host that is gone is followed within the time of the slowest clock")
    func followed() {
        for seed in UInt64(0)..<50 {
            var model = LeaseModel(seed: seed, hosts: 3, trouble: 0)
            model.run(until: 60)
            model.killOwners()
            let (takeovers, start) = (model.takeovers, model.now)
            model.run(until: start + 18)
            #expect(model.takeovers > takeovers, "seed \(seed)")
        }
    }
}
