internal import Holdfast
internal import HoldfastRequests
internal import HoldfastWebhooks
package import Logging

/// Posts spans to a collector, batch by batch. A collector that is away, hangs or answers nonsense costs spans, and nothing
/// else.
package final class SpanExporter: Sendable {
    package let queue: SpanQueue
    /// Makes the spans.
    package let tracer: CollectorTracer
    private let settings: TraceSettings
    private let poster: any Posting
    private let server: String
    private let logger: Logger
    private let task = Monitor<Task<Void, Never>?>(nil)
    private let isFailing = Monitor(false)

    /// The most requests with the same spans.
    static let attempts = 5
    /// The longest wait from one to the next, whatever the collector asks for.
    static let longestPause = Duration.seconds(30)

    /// - Returns: nil if the settings name no collector.
    package convenience init?(_ settings: TraceSettings, logger: Logger) {
        guard let target = settings.target else { return nil }
        self.init(settings, server: target.address.server, poster: HTTPPoster(target), logger: logger)
    }

    init(_ settings: TraceSettings, server: String, poster: any Posting, logger: Logger) {
        queue = SpanQueue(limit: settings.limit)
        tracer = CollectorTracer(queue, sample: settings.sample)
        (self.settings, self.server, self.poster, self.logger) = (settings, server, poster, logger)
    }

    /// Exports from now on. Once.
    package func start() { task.withLock { $0 = Task { await self.run() } } }

    /// Exports what has ended, and ends.
    ///
    /// - Parameter limit: then what is left is dropped. A connection that is being made then is not waited for.
    package func end(within limit: Duration) async {
        queue.end()
        guard let task = task.withLock({ $0 }) else { return }
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        let timer = Task {
            do { try await Task.sleep(for: limit) } catch { return }
            task.cancel()
            end.finish()
        }
        Task {
            await task.value
            end.finish()
        }
        for await _ in ending {}
        timer.cancel()
        await poster.close()
    }

    private func run() async {
        while true {
            // What ends while the last request is on its way is looked for once more.
            let isLast = queue.isEnding
            if !isLast { await queue.wait(atMost: settings.interval) }
            while !Task.isCancelled, case let spans = queue.take(), !spans.isEmpty { await export(spans) }
            if isLast || Task.isCancelled { return queue.dropRest() }
        }
    }

    private func export(_ spans: [SpanRecord]) async {
        let count = spans.count
        do {
            let body = try SpanForm.bytes(spans, serviceName: settings.serviceName)
            guard await post(body) else { return queue.count { $0.refused += count } }
            queue.count { $0.exported += count }
        } catch {
            queue.count { $0.refused += count }
            tell("spans can't be written as JSON: \(error)")
        }
    }

    /// - Returns: whether the collector took it.
    private func post(_ body: [UInt8]) async -> Bool {
        var pause = Duration.seconds(1)
        for attempt in 1...Self.attempts {
            let result = await poster.post(PostRequest(headers: [:], body: body), within: settings.timeout)
            guard let fault = result.fault else {
                tellWell()
                return true
            }
            tell(fault)
            var wait = pause * Double.random(in: 0.5...1)
            if case .refused(let status, let retryAfter) = result {
                guard [429, 502, 503, 504].contains(status) else { return false }
                if let retryAfter { wait = min(retryAfter, Self.longestPause) }
            }
            // At the end nobody waits for a collector.
            guard attempt < Self.attempts, !queue.isEnding else { return false }
            await queue.pause(wait)
            pause = min(pause * 2, Self.longestPause)
        }
        return false
    }

    // MARK: Words

    /// Once while it lasts.
    private func tell(_ fault: String) {
        let isNew = isFailing.withLock { isFailing in
            defer { isFailing = true }
            return !isFailing
        }
        guard isNew else { return }
        logger.warning(
            "spans don't reach the collector \(server): \(fault). Up to \(settings.limit) wait, and further ones are dropped; notifications are not held up"
        )
    }

    private func tellWell() {
        let wasFailing = isFailing.withLock { isFailing in
            defer { isFailing = false }
            return isFailing
        }
        guard wasFailing else { return }
        let figures = queue.figures.0
        logger.notice(
            "spans reach the collector \(server) again; \(figures.overflowed + figures.refused) were dropped since the start"
        )
    }
}
