internal import HoldfastPlatform
internal import Synchronization

/// What an outlet's thread tells others, and whether it is to stop. Nobody holds its lock while waiting for anything else.
final class OutcomeBoard: Sendable {
    private struct State {
        var status = OutcomeOutlet.Status()
        var isStopped = false
        var isThreadOver = false
    }

    private let state = Mutex(State())
    private let changes = Condition()

    var status: OutcomeOutlet.Status { state.withLock { $0.status } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func tell(_ change: (inout OutcomeOutlet.Status) -> Void) { state.withLock { change(&$0.status) } }
    func stop() { change { $0.isStopped = true } }
    func endThread() { change { $0.isThreadOver = true } }

    /// Waits for a time, or until the outlet is to stop.
    func rest(_ time: Duration) { _ = wait(time) { $0.isStopped } }
    func waitForEnd(_ time: Duration) -> Bool { wait(time) { $0.isThreadOver } }

    private func change(_ body: (inout State) -> Void) {
        changes.lock()
        state.withLock { body(&$0) }
        changes.broadcast()
        changes.unlock()
    }

    private func wait(_ time: Duration, _ isSo: (borrowing State) -> Bool) -> Bool {
        let end = Condition.now + time
        changes.lock()
        defer { changes.unlock() }
        while !state.withLock({ isSo($0) }) {
            if !changes.wait(until: end) { return state.withLock { isSo($0) } }
        }
        return true
    }
}
