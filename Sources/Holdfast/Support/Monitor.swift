internal import HoldfastPlatform

/// State behind a lock, with a condition to wait on.
///
/// A pthread mutex and condition, because ThreadSanitizer understands those; it reports false races
/// for `Synchronization.Mutex`. What it costs vanishes in batches.
///
/// Sendable since `state` is touched only while `condition` is held.
package final class Monitor<State: Sendable>: @unchecked Sendable {
    private let condition = Condition()
    private var state: State

    package init(_ state: State) { self.state = state }

    /// Runs `body` alone. It must not block and must not call out: take what is needed, act outside.
    package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        condition.lock()
        defer { condition.unlock() }
        return try body(&state)
    }

    /// Wakes one thread that waits.
    package func signal() { condition.signal() }

    /// Wakes all threads that wait.
    package func broadcast() { condition.broadcast() }

    /// Waits until `body` returns a value, looking again after each signal.
    ///
    /// - Parameter limit: how long to wait before the last look; nil for ever.
    /// - Returns: nil when the limit came first.
    package func wait<R>(atMost limit: Duration? = nil, for body: (inout State) -> R?) -> R? {
        let end = limit.map { Condition.now + max($0, .zero) }
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result = body(&state) { return result }
            if let end {
                if !condition.wait(until: end) { return body(&state) }
            } else {
                condition.wait()
            }
        }
    }
}
