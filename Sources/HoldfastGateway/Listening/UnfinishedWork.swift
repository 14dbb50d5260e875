internal import Holdfast

/// What goes on when its connection is gone, and is waited for at the end.
final class UnfinishedWork: Sendable {
    private let count = Monitor(0)

    func begin() { count.withLock { $0 += 1 } }

    func finish() { count.withLock { $0 -= 1 } }

    /// Returns when there is none, or at the deadline.
    func untilNone(by deadline: ContinuousClock.Instant) async {
        while count.withLock({ $0 > 0 }), ContinuousClock.now < deadline {
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
        }
    }
}
