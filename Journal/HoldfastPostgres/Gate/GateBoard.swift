internal import Holdfast

/// What a gate tells others, and whether it is to stop.
final class GateBoard: Sendable {
    private struct State {
        var status = PostgresGate.Status()
        var isStopped = false
    }

    private let board = Monitor(State())

    var status: PostgresGate.Status { board.withLock(\.status) }
    var isStopped: Bool { board.withLock(\.isStopped) }

    func begin(_ number: UInt64) {
        board.change { $0.status.underWay = PostgresGate.Waiting(number: number, since: .now) }
    }

    func finish() {
        board.change { state in
            state.status.underWay = nil
            state.status.trouble = nil
        }
    }

    func tell(_ words: String) {
        board.change { state in
            let since = state.status.trouble?.since ?? .now
            state.status.trouble = PostgresGate.Trouble(words: words, since: since)
        }
    }

    func kept(_ number: UInt64) { board.change { $0.status.last = number } }

    func end(_ ending: GateMachine.Ending) { board.change { $0.status.ending = $0.status.ending ?? ending } }

    func stop() { board.change { $0.isStopped = true } }

    /// Waits for a time, or until the gate is to stop.
    func rest(_ time: Duration) { board.wait(time) { $0.isStopped } }
}
