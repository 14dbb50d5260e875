internal import Holdfast
internal import HoldfastControl
internal import HoldfastWebhooks
internal import Logging
internal import ServiceLifecycle

/// Runs the webhooks, and exchanges them while it runs. Those whose settings stay go on as they are.
final class WebhookKeeper: Service, Sendable {
    private let engine: PushEngine
    private let logger: Logger
    /// Of the journal, as a word of a shell.
    private let directory: String?
    private let sets: AsyncStream<[WebhookConfiguration]>
    private let next: AsyncStream<[WebhookConfiguration]>.Continuation
    private let running = Monitor<[Webhook]>([])

    /// Opens the readers of new webhooks: they are told what ends from now on.
    ///
    /// - Parameter directory: of the journal; nil if it has none.
    init(
        _ webhooks: [WebhookConfiguration], engine: PushEngine, directory: String?, logger: Logger
    ) throws(JournalError) {
        (self.engine, self.logger) = (engine, logger)
        self.directory = directory.map(ShellText.word)
        (sets, next) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        for webhook in webhooks { _ = try engine.outcomes(reader: webhook.reader) }
        next.yield(webhooks)
    }

    /// From now on these, and no others. Where one comes back, it goes on where it was.
    func exchange(_ webhooks: [WebhookConfiguration]) { next.yield(webhooks) }

    /// How each does.
    var standings: [WebhookStanding] { running.withLock { $0 }.map(\.standing) }

    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            var tasks: [String: Task<Void, Never>] = [:]
            for await wanted in sets { await change(to: wanted, &tasks) }
            for webhook in running.withLock({ $0 }) { webhook.end() }
            for task in tasks.values { await task.value }
        } onCancelOrGracefulShutdown: {
            self.next.finish()
        }
    }

    /// One that ends gives its reader free before another of its name begins.
    private func change(to wanted: [WebhookConfiguration], _ tasks: inout [String: Task<Void, Never>]) async {
        let present = running.withLock { $0 }
        let ended = present.filter { !wanted.contains($0.configuration) }
        for webhook in ended { webhook.end() }
        for webhook in ended { await tasks.removeValue(forKey: webhook.configuration.name)?.value }
        let kept = present.filter { wanted.contains($0.configuration) }
        let new = wanted.filter { one in !kept.contains { $0.configuration == one } }.map { configuration in
            Webhook(configuration, engine: engine, directory: directory, logger: logger) {
                try Form.line(OutcomeForm($0))
            }
        }
        running.withLock { $0 = kept + new }
        for webhook in new { tasks[webhook.configuration.name] = Task { await webhook.run() } }
    }
}
