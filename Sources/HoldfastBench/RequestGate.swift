internal import Dispatch
internal import Holdfast

/// Lets some dozen requests wait at a time, and keeps the first failure.
final class RequestGate: Sendable {
    private let depth: Int
    private let room: DispatchSemaphore
    private let failure = Monitor<JournalError?>(nil)

    /// - Parameter depth: the most requests that wait.
    init(depth: Int) {
        self.depth = depth
        room = DispatchSemaphore(value: depth)
    }

    func enter() { room.wait() }

    func leave(_ result: Result<Void, JournalError>) {
        if case .failure(let error) = result { failure.withLock { $0 = $0 ?? error } }
        room.signal()
    }

    /// Waits until nobody is in.
    func drain() throws {
        for _ in 0..<depth { room.wait() }
        for _ in 0..<depth { room.signal() }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
