internal import HoldfastPlatform
internal import Synchronization

/// What a gate tells others, and whether it is to stop. Nobody holds its lock while waiting for anything else.
final class GateBoard: Sendable {
    private struct State {
        var status = PostgresGate.Status()
        var isStopped = false
    }

    private let state = Mutex(State())
    private let changes = Condition()

    var status: PostgresGate.Status { state.withLock { $0.status } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func begin(_ number: UInt64) {
        state.withLock { $0.status.underWay = PostgresGate.Waiting(number: number, since: .now) }
    }

    func finish() {
        state.withLock { state in
            state.status.underWay = nil
            state.status.trouble = nil
        }
    }

    func tell(_ words: String) {
        state.withLock { state in
            let since = state.status.trouble?.since ?? .now
            state.status.trouble = PostgresGate.Trouble(words: words, since: since)
        }
    }

    func end(_ ending: GateMachine.Ending) { state.withLock { $0.status.ending = ending } }

    func stop() {
        changes.lock()
        state.withLock { $0.isStopped = true }
        changes.broadcast()
        changes.unlock()
    }

    /// Waits for a time, or until the gate is to stop.
    func rest(_ time: Duration) {
        let end = Condition.now + time
        changes.lock()
        defer { changes.unlock() }
        while !isStopped, changes.wait(until: end) {}
    }
}
