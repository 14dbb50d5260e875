internal import Holdfast

/// What an outlet's thread tells others, and whether it is to stop.
final class OutcomeBoard: Sendable {
    private struct State {
        var status = OutcomeOutlet.Status()
        var isStopped = false
        var isThreadOver = false
    }

    private let board = Monitor(State())

    var status: OutcomeOutlet.Status { board.withLock(\.status) }
    var isStopped: Bool { board.withLock(\.isStopped) }

    func tell(_ change: (inout OutcomeOutlet.Status) -> Void) { board.change { change(&$0.status) } }
    func stop() { board.change { $0.isStopped = true } }
    func endThread() { board.change { $0.isThreadOver = true } }

    /// Waits for a time, or until the outlet is to stop.
    func rest(_ time: Duration) { board.wait(time) { $0.isStopped } }
    func waitForEnd(_ time: Duration) -> Bool { board.wait(time) { $0.isThreadOver } }
}
