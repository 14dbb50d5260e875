/// The whole engine with simulated time, disk and service, driven by a seed.
package struct Simulation: Sendable {
    package let seed: UInt64

    /// Makes a real journal; nil for one in memory.
    private let makeDisk: (@Sendable (UInt64) throws -> any SimulatedDisk)?

    /// - Parameter makeDisk: makes a real journal for the seed; nil for one in memory.
    package init(seed: UInt64, on makeDisk: (@Sendable (_ seed: UInt64) throws -> any SimulatedDisk)? = nil) {
        self.seed = seed
        self.makeDisk = makeDisk
    }

    /// - Parameter say: takes each line of what happens; nil for none.
    package func run(say: (@Sendable (String) -> Void)? = nil) -> SimulationReport {
        let disk: (any SimulatedDisk)?
        do { disk = try makeDisk?(seed) } catch { return .withoutDisk(seed, error) }
        let world = World(seed: seed, on: disk, say: say)
        defer { world.storage.remove() }
        world.open()
        for _ in 0..<world.swarm.steps where world.goesOn { world.takeStep() }
        if world.goesOn { world.heal() }
        return SimulationReport(
            seed: seed, violation: world.violation, steps: world.step, lives: world.life,
            accepted: world.ledger.entries.count, digest: world.log.digest, trouble: world.counts,
            tail: world.violation == nil ? [] : world.log.tail)
    }
}

/// What a simulation came to.
package struct SimulationReport: Sendable {
    package let seed: UInt64
    package let violation: Violation?
    package let steps: Int
    package let lives: Int
    package let accepted: Int
    /// The same for two runs that were the same.
    package let digest: UInt64
    package let trouble: [Trouble: Int]
    /// The last that happened before a violation.
    package let tail: [String]

    fileprivate static func withoutDisk(_ seed: UInt64, _ error: any Error) -> SimulationReport {
        SimulationReport(
            seed: seed, violation: Violation(promise: 0, message: "no journal was made: \(error)", step: 0), steps: 0,
            lives: 0, accepted: 0, digest: 0, trouble: [:], tail: [])
    }
}
