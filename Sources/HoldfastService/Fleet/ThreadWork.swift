internal import Holdfast
internal import ServiceLifecycle

/// Keeps what works on a thread of its own, until its service is to end.
struct ThreadWork<Work: Sendable>: Sendable {
    private let place = Monitor<Work?>(nil)

    /// `nil` before the start.
    var running: Work? { place.withLock { $0 } }

    /// - Parameters:
    ///   - thread: the name of the one that waits for the end.
    ///   - stop: blocks until it has ended.
    func run(_ work: Work, _ thread: String, stop: @escaping @Sendable (Work) -> Void) async throws {
        place.withLock { $0 = work }
        do { try await gracefulShutdown() } catch {}
        await OwnThread.run(thread) { stop(work) }
    }
}
