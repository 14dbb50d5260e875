internal import Foundation

/// Runs what blocks on a thread of its own, so that it holds up no task.
enum OwnThread {
    /// - Parameter name: of the thread, for who looks at the process.
    static func run<R: Sendable, E: Error>(
        _ name: String, _ work: @escaping @Sendable () throws(E) -> R
    ) async throws(E) -> R {
        let result: Result<R, E> = await withCheckedContinuation { continuation in
            let thread = Thread {
                do throws(E) { continuation.resume(returning: .success(try work())) } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            thread.name = name
            thread.start()
        }
        return try result.get()
    }
}
