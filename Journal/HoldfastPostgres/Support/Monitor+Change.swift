internal import Holdfast

extension Monitor {
    /// Changes the state, and wakes whoever waits.
    @discardableResult
    func change<R>(_ body: (inout State) -> R) -> R {
        defer { broadcast() }
        return withLock { body(&$0) }
    }

    /// - Returns: whether it was so in time.
    @discardableResult
    func wait(_ time: Duration, until isSo: (State) -> Bool) -> Bool {
        wait(atMost: time) { isSo($0) ? true : nil } ?? false
    }
}
