import HoldfastTesting
import Testing

@Suite("Simulation")
struct SimulationTests {
    @Test("The same seed is the same run")
    func repeats() {
        for seed: UInt64 in 1...4 {
            #expect(Simulation(seed: seed).run().digest == Simulation(seed: seed).run().digest, "seed \(seed)")
        }
    }

    @Test("Every promise is kept, whatever the seed", arguments: 0..<4)
    func keepsPromises(block: Int) {
        for seed in UInt64(block * 25 + 1)...UInt64(block * 25 + 25) { expectKept(seed) }
    }

    /// Seeds that broke a promise when they were first run. (They mean something else when the dice are thrown in another
    /// order; what they found has a fault of its own in Scripts/mutations.)
    @Test(
        "What once broke a promise keeps it now",
        arguments: [44, 81, 105, 290, 392, 1844, 4670, 6613, 7348, 247_214] as [UInt64])
    func regressions(seed: UInt64) { expectKept(seed) }

    private func expectKept(_ seed: UInt64) {
        let report = Simulation(seed: seed).run()
        let what = report.violation.map { "\($0)" } ?? ""
        #expect(report.violation == nil, "\(what); replay with: Scripts/simulate --seed \(seed) --verbose")
    }
}
