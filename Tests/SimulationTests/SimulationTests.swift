import HoldfastTesting
import Testing

@Suite("Simulation")
struct SimulationTests {
    @Test("The same seed is the same run")
    func repeats() {
        for seed: UInt64 in 1...5 {
            #expect(Simulation(seed: seed).run().digest == Simulation(seed: seed).run().digest, "seed \(seed)")
        }
    }

    @Test("Every promise is kept, whatever the seed", arguments: 0..<10)
    func keepsPromises(block: Int) {
        for seed in UInt64(block * 20)..<UInt64(block * 20 + 20) {
            let report = Simulation(seed: seed).run()
            #expect(report.violation == nil, "replay with: Scripts/simulate --seed \(seed) --verbose")
        }
    }
}
