internal import Holdfast
package import HoldfastPQ
internal import Synchronization

/// Ends the opening of a journal from another thread, wherever it waits.
package final class OpeningStop: Sendable {
    private struct State {
        var isStopped = false
        var gate: PostgresGate?
    }

    private let board = Monitor(State())
    let interruption: PQInterruption

    /// - Throws: `unreachable` when the process has no descriptors left.
    package init() throws(PQError) { interruption = try PQInterruption() }

    package var isStopped: Bool { board.withLock(\.isStopped) }

    /// Never blocks.
    package func stop() {
        interruption.interrupt()
        board.change { state in
            state.isStopped = true
            state.gate?.stop()
        }
    }

    /// A gate that is to stop, too, while the journal is opened over it; `nil` once it is open.
    func note(_ gate: PostgresGate?) {
        board.change { state in
            state.gate = gate
            if state.isStopped { gate?.stop() }
        }
    }

    /// Why a commit of the opening was not kept yet; `nil` where none waits.
    package var trouble: DatabaseTrouble? { board.withLock(\.gate)?.status.trouble?.cause }

    /// Waits for a time, or until it is stopped.
    func rest(_ time: Duration) { board.wait(time) { $0.isStopped } }
}
