internal import Holdfast
internal import Synchronization

/// What a gate tells others, and whether it is to stop.
final class GateBoard: Sendable {
    private struct State {
        var status = PostgresGate.Status()
        var isStopped = false
        var onLacking: @Sendable () -> Void = {}
    }

    private let board = Monitor(State())
    private let lacking = Atomic(false)

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

    func tell(_ trouble: DatabaseTrouble) {
        board.change { state in
            let since = state.status.trouble?.since ?? .now
            state.status.trouble = PostgresGate.Trouble(cause: trouble, since: since)
        }
    }

    func kept(_ number: UInt64) { board.change { $0.status.last = number } }

    func end(_ ending: GateMachine.Ending) { board.change { $0.status.ending = $0.status.ending ?? ending } }

    /// Whether the log lacks commits that were kept. Waits for nothing.
    var isLacking: Bool { lacking.load(ordering: .acquiring) }

    func whenLacking(_ body: @escaping @Sendable () -> Void) { board.withLock { $0.onLacking = body } }

    func setLacking(_ isLacking: Bool) {
        let tell = board.change { state in
            if !isLacking, lacking.load(ordering: .relaxed) { state.status.mendings += 1 }
            lacking.store(isLacking, ordering: .releasing)
            return state.onLacking
        }
        if isLacking { tell() }
    }

    /// Waits while the log lacks commits, unless the gate ends.
    func waitForMending() {
        while !board.wait(.seconds(60), until: { !self.isLacking || $0.isStopped || $0.status.ending != nil }) {}
    }

    func stop() { board.change { $0.isStopped = true } }

    /// Waits for a time, or until the gate is to stop.
    func rest(_ time: Duration) { board.wait(time) { $0.isStopped } }
}
