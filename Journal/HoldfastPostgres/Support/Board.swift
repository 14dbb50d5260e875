internal import HoldfastPlatform
internal import Synchronization

/// A state that threads tell each other by, and wait for. Nobody holds its lock while waiting for anything else.
final class Board<State: Sendable>: Sendable {
    private let state: Mutex<State>
    private let changes = Condition()

    init(_ state: State) { self.state = Mutex(state) }

    func read<R: Sendable>(_ body: (State) -> R) -> R { state.withLock { body($0) } }

    /// Wakes whoever waits.
    func change(_ body: (inout State) -> Void) {
        changes.lock()
        state.withLock { body(&$0) }
        changes.broadcast()
        changes.unlock()
    }

    /// - Returns: whether it was so in time.
    @discardableResult
    func wait(_ time: Duration, _ isSo: (State) -> Bool) -> Bool {
        let end = Condition.now + time
        changes.lock()
        defer { changes.unlock() }
        while !state.withLock({ isSo($0) }) {
            if !changes.wait(until: end) { return state.withLock { isSo($0) } }
        }
        return true
    }
}
