internal import Holdfast
internal import NIOCore
internal import NIOPosix

/// Counts work that continues when its connection is gone, and that a shutdown waits for.
final class UnfinishedWork: Sendable {
    private struct State: Sendable {
        var count = 0
        /// Whether the time is over in which the end is waited for.
        var isGivenUp = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Monitor(State())

    func begin() { state.withLock { $0.count += 1 } }

    func finish() {
        let waiting = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.waiting.take() : nil
        }
        waiting?.resume()
    }

    /// Returns when there is none, or after the limit, and not because its task is cancelled. To be called once.
    func untilNone(within limit: Duration) async {
        let timer = MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: TimeAmount(limit)) { self.giveUp() }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.count > 0, !state.isGivenUp else { return true }
                state.waiting = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
        timer.cancel()
    }

    private func giveUp() {
        let waiting = state.withLock { state in
            state.isGivenUp = true
            return state.waiting.take()
        }
        waiting?.resume()
    }
}
