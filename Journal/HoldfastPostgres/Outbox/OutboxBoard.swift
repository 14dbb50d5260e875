internal import Holdfast
internal import HoldfastPlatform
internal import Synchronization

/// What an intake's thread tells others, what they want of it, and what the journal answers. Nobody holds its lock while
/// waiting for anything else.
final class OutboxBoard: Sendable {
    /// What became of rows that were submitted together.
    struct Answer {
        let rows: [OutboxRow]
        let receipts: [Receipt]
    }

    private struct State {
        var status = OutboxIntake.Status()
        var answers: [Answer] = []
        var isStopped = false
        var isThreadOver = false
    }

    private let state = Mutex(State())
    private let changes = Condition()

    var status: OutboxIntake.Status { state.withLock { $0.status } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func tell(_ change: (inout OutboxIntake.Status) -> Void) { state.withLock { change(&$0.status) } }
    func answer(_ answer: Answer) { change { $0.answers.append(answer) } }
    func stop() { change { $0.isStopped = true } }
    func endThread() { change { $0.isThreadOver = true } }

    func takeAnswers() -> [Answer] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// Waits for a time, or for an answer, or until the intake is to stop.
    func rest(_ time: Duration) {
        let wasStopped = isStopped
        _ = wait(time) { !$0.answers.isEmpty || $0.isStopped != wasStopped }
    }

    func waitForEnd(_ time: Duration) -> Bool { wait(time) { $0.isThreadOver } }

    private func change(_ body: (inout State) -> Void) {
        changes.lock()
        state.withLock { body(&$0) }
        changes.broadcast()
        changes.unlock()
    }

    /// - Returns: whether it was so in time.
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
