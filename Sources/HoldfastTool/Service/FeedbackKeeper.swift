internal import Holdfast
internal import ServiceLifecycle

/// Runs the readers of feedback, and exchanges them while it runs.
final class FeedbackKeeper: Service, Sendable {
    private let sets: AsyncStream<[FeedbackReader]>
    private let next: AsyncStream<[FeedbackReader]>.Continuation

    init(_ readers: [FeedbackReader]) {
        (sets, next) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        next.yield(readers)
    }

    /// From now on these, and no others.
    func exchange(_ readers: [FeedbackReader]) { next.yield(readers) }

    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            var iterator = sets.makeAsyncIterator()
            var current = await iterator.next()
            while let readers = current {
                current = await withTaskGroup(of: Void.self) { tasks in
                    for reader in readers { tasks.addTask { await Self.run(reader) } }
                    let next = await iterator.next()
                    tasks.cancelAll()
                    return next
                }
            }
        } onCancelOrGracefulShutdown: {
            self.next.finish()
        }
    }

    /// What keeps one from reading it says itself, and it ends nothing else.
    private static func run(_ reader: FeedbackReader) async { do { try await reader.run() } catch {} }
}
