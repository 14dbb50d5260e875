/// Waits for a condition, looking every few milliseconds.
package func waitUntil(limit: Duration = .seconds(30), _ condition: () throws -> Bool) async rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
        if ContinuousClock.now > deadline { return false }
        do { try await Task.sleep(for: .milliseconds(5)) } catch { return false }
    }
    return true
}

/// The same for a condition that takes its time.
package func waitUntilAsync(limit: Duration = .seconds(30), _ condition: () async throws -> Bool) async rethrows -> Bool
{
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        if ContinuousClock.now > deadline { return false }
        do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
    }
    return true
}
