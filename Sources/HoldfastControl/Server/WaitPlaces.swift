internal import Holdfast

/// Bounds the number of requests that wait for outcomes, so that they never take all connections of a listener.
package final class WaitPlaces: Sendable {
    package let limit: Int
    private let taken = Monitor(0)

    package init(limit: Int) { self.limit = limit }

    /// - Returns: false where all places are taken. Whoever got one must ``leave()`` it.
    package func enter() -> Bool {
        taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
    }

    package func leave() { taken.withLock { $0 -= 1 } }

    /// Does work that may wait.
    ///
    /// - Throws: ``ControlError`` with code `busy` where all places are taken, and what `work` throws.
    func waiting<R: Sendable>(_ work: () async throws -> R) async throws -> R {
        guard enter() else {
            throw ControlError(
                .busy,
                "\(limit) requests wait for outcomes, and no more may at a time: ask again later, or without `wait`")
        }
        defer { leave() }
        return try await work()
    }
}
