/// The whole engine with simulated time, disk and service, driven by a seed.
package struct Simulation: Sendable {
    package let seed: UInt64

    package init(seed: UInt64) { self.seed = seed }

    /// - Parameter say: takes each line of what happens; nil for none.
    package func run(say: (@Sendable (String) -> Void)? = nil) -> SimulationReport {
        let world = World(seed: seed, say: say)
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
}
