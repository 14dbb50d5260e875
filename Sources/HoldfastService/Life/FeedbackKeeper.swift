internal import Holdfast
internal import Logging
internal import ServiceLifecycle

/// Runs the readers of feedback, and exchanges them while it runs.
///
/// A reading that is under way gets its time before others take its place: what the service has told is told once.
final class FeedbackKeeper: Service, Sendable {
    private let sets: AsyncStream<[FeedbackReader]>
    private let next: AsyncStream<[FeedbackReader]>.Continuation
    private let logger: Logger

    init(_ readers: [FeedbackReader], logger: Logger) {
        (sets, next) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.logger = logger
        next.yield(readers)
    }

    /// From now on these, and no others.
    func exchange(_ readers: [FeedbackReader]) { next.yield(readers) }

    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            var iterator = sets.makeAsyncIterator()
            var current = await iterator.next()
            while let readers = current {
                let group = ServiceGroup(
                    configuration: .init(
                        services: [.init(service: Together(readers: readers), successTerminationBehavior: .ignore)],
                        logger: logger))
                current = await withTaskGroup(of: Void.self) { tasks in
                    // A reader logs its own faults, and they end nothing else.
                    tasks.addTask { do { try await group.run() } catch {} }
                    let next = await iterator.next()
                    await group.triggerGracefulShutdown()
                    await tasks.waitForAll()
                    return next
                }
            }
        } onCancelOrGracefulShutdown: {
            self.next.finish()
        }
    }

    /// Readers that are shut down all at a time.
    private struct Together: Service {
        let readers: [FeedbackReader]

        func run() async throws {
            await withTaskGroup(of: Void.self) { tasks in
                for reader in readers { tasks.addTask { do { try await reader.run() } catch {} } }
            }
        }
    }
}
