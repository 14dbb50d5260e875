/// Waits for a condition, for so long and no longer.
package struct Patience: Sendable {
    package let limit: Duration

    package init(_ limit: Duration) { self.limit = limit }

    /// - Returns: whether it came to hold.
    @discardableResult
    package func wait(for condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while !condition() {
            if ContinuousClock.now > deadline { return false }
            do { try await Task.sleep(for: .milliseconds(1)) } catch { return condition() }
        }
        return true
    }
}
