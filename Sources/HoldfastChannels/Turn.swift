internal import Holdfast

/// Lets in one after the other, in the order they came.
final class Turn: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var nextNumber = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Monitor(State())

    /// Waits for a turn. The holder of a turn passes it on.
    ///
    /// - Returns: false when the task was cancelled while it waited: it has no turn.
    func take() async -> Bool {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMine: Bool? = state.withLock { state in
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    // The cancellation has come first, and will not remove it any more.
                    if Task.isCancelled { return false }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let isMine { continuation.resume(returning: isMine) }
            }
        } onCancel: {
            leave(number)
        }
    }

    private func leave(_ number: Int) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
        }
        waiting?.resume(returning: false)
    }

    func pass() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            state.isTaken = false
            return nil
        }
        next?.resume(returning: true)
    }
}
