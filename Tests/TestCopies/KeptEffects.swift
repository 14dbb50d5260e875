package import HoldfastLMDB
internal import Synchronization

/// Keeps the effects of commits in memory; says no when it is told to. Commits are numbered from 1.
package final class KeptEffects: CommitGate {
    private struct State {
        package var kept: [[UInt8]] = []
        var refusals = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func keep(
        _ effects: [UInt8], taking rows: [Int64], claiming claims: [CommitClaim]
    ) throws(LMDBError) -> GateAnswer {
        let number = state.withLock { state -> UInt64? in
            guard state.refusals == 0 else {
                state.refusals -= 1
                return nil
            }
            state.kept.append(effects)
            return UInt64(state.kept.count)
        }
        guard let number else { throw LMDBError(.notKept, "keep", path: "elsewhere") }
        return .kept(number)
    }

    /// Refuses the next commit.
    package func refuseNext() { state.withLock { $0.refusals = 1 } }
    package var kept: [[UInt8]] { state.withLock { $0.kept } }
}
