/// A first-in, first-out queue of tasks that wait for room in a full journal.
///
/// A commit wakes the first task, and a task that got room wakes the next, so that a thousand tasks do not compete for room for
/// one.
final class RoomGate: Sendable {
    private struct State: Sendable {
        var waiting: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var next = 0
    }

    private let state = Monitor(State())

    /// Waits until there may be room, or for so long, or until the task is cancelled. A disk may get room without a word
    /// of the journal, so no task should wait long at a time.
    ///
    /// - Parameter isFirst: whether to go before all others, as one does who has waited and found no room after all.
    func wait(atMost limit: Duration, isFirst: Bool) async {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(as: number, isFirst: isFirst) }
            group.addTask {
                // Cut short only when it is over anyway.
                try? await Task.sleep(for: limit)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(as number: Int, isFirst: Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    let place = isFirst ? 0 : state.waiting.count
                    state.waiting.insert((number, continuation), at: place)
                }
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    private func leave(_ number: Int) {
        let continuation = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
        }
        continuation?.resume()
    }

    /// There may be room for one more.
    func wakeFirst() {
        let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst().continuation }
        first?.resume()
    }
}
