internal import Holdfast

/// What an intake's thread tells others, what they want of it, and what the journal answers.
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

    private let board = Monitor(State())

    var status: OutboxIntake.Status { board.withLock(\.status) }
    var isStopped: Bool { board.withLock(\.isStopped) }

    func tell(_ change: (inout OutboxIntake.Status) -> Void) { board.change { change(&$0.status) } }
    func answer(_ answer: Answer) { board.change { $0.answers.append(answer) } }
    func stop() { board.change { $0.isStopped = true } }
    func endThread() { board.change { $0.isThreadOver = true } }

    func takeAnswers() -> [Answer] {
        var answers: [Answer] = []
        board.change { swap(&answers, &$0.answers) }
        return answers
    }

    /// Waits for a time, or for an answer, or until the intake is to stop.
    func rest(_ time: Duration) {
        let wasStopped = isStopped
        board.wait(time) { !$0.answers.isEmpty || $0.isStopped != wasStopped }
    }

    /// Waits for a time, whatever is told meanwhile.
    func pause(_ time: Duration) { board.wait(time) { _ in false } }

    func waitForEnd(_ time: Duration) -> Bool { board.wait(time) { $0.isThreadOver } }
}
