public import Logging
public import ServiceLifecycle

/// Reads what a push service says about devices that take no notifications any more, and blacklists their tokens.
///
///     let reader = FeedbackReader(source, blacklist: engine.blacklist)
///     let group = ServiceGroup(services: [engine, reader], gracefulShutdownSignals: [.sigterm], logger: logger)
///     for await tuple in reader.tuples { … }   // what the application wants to know of it
///
/// Each batch is on the blacklist, on disk, before more is read, since reading clears the service's own list. An entry
/// has the tuple's timestamp: a token that was registered later is lifted, and an older tuple does not move an entry back.
///
/// A `Service` of swift-service-lifecycle that reads at once, and then at intervals. That reading fails never ends it and
/// never touches sending: it is tried again with backoff. On graceful shutdown the reading under way gets
/// ``Configuration/stopLimit``; what was read by then is kept.
public final class FeedbackReader: Service, Sendable {
    /// The reader's settings, each with its default.
    public struct Configuration: Hashable, Sendable {
        /// From the end of one reading to the next one. Default: 1 hour.
        public var interval: Duration = .seconds(60 * 60)
        /// The upper bound of the wait after a first failure; it doubles up to ``interval``, with jitter. Default: 10 s.
        public var retryMinimum: Duration = .seconds(10)
        /// How long storing tuples in the blacklist is retried, for example on a full disk, before the reading fails with
        /// ``FeedbackError/Code/notStored``. Default: 60 s.
        public var storeLimit: Duration = .seconds(60)
        /// The interval between such retries. Default: 250 ms.
        public var storeRetry: Duration = .milliseconds(250)
        /// How long a graceful shutdown waits for a reading in progress. Default: 2 s.
        public var stopLimit: Duration = .seconds(2)
        /// The most tuples that wait for the application in ``FeedbackReader/tuples``. Default: 10,000.
        public var tupleLimit = 10_000

        /// Creates a configuration with the default of each limit.
        public init() {}
    }

    /// Tuples in one commit of the blacklist.
    static let batchLimit = 1000

    /// The tuples that were read, after they were blacklisted, for one listener. If it is slow, the oldest beyond
    /// ``Configuration/tupleLimit`` are dropped, and counted (``FeedbackStatus/dropped``). Ends with ``run()``.
    public let tuples: AsyncStream<FeedbackTuple>

    private let application: AsyncStream<FeedbackTuple>.Continuation
    private let source: any FeedbackSource
    private let blacklist: TokenBlacklist
    private let route: String
    private let scope: BlacklistScope
    private let configuration: Configuration
    private let clock: EngineClock
    private let log: EngineLog
    private let state = Monitor(FeedbackStatus())

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - blacklist: ``PushEngine/blacklist``.
    ///   - route: the route's name in the blacklist's entries. Default: `default`.
    ///   - scope: the app's topic, and the push service by its ``Connector/serviceIdentity``: feedback is of the app of the
    ///     certificate with which it is read. Default: every topic and every service.
    public init(
        _ source: any FeedbackSource, blacklist: TokenBlacklist, route: String = "default",
        scope: BlacklistScope = BlacklistScope(),
        configuration: Configuration = Configuration(), clock: EngineClock = .system,
        logger: Logger = Logger(label: "holdfast.feedback")
    ) {
        (tuples, application) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(max(configuration.tupleLimit, 1)))
        self.source = source
        self.blacklist = blacklist
        self.route = route
        self.scope = scope
        self.configuration = configuration
        self.clock = clock
        log = EngineLog(logger, clock: clock, route: route)
    }

    /// Returns the present counts.
    public func status() -> FeedbackStatus { state.withLock { $0 } }

    /// Reads once.
    ///
    /// - Parameter body: gets each batch after it was blacklisted; more is read when it returns.
    /// - Returns: how many tuples there were; all whose tokens have 1 to 100 bytes are on the blacklist.
    /// - Throws: ``FeedbackError``; what was read before is on the blacklist, and ``FeedbackError/kept`` says how many.
    @discardableResult
    public func read(
        _ body: @escaping @Sendable ([FeedbackTuple]) async -> Void = { _ in }
    ) async throws(FeedbackError) -> Int {
        let kept = Monitor(0)
        do throws(FeedbackError) {
            try await source.read { batch throws(FeedbackError) in
                for start in stride(from: 0, to: batch.count, by: Self.batchLimit) {
                    let part = Array(batch[start..<min(start + Self.batchLimit, batch.count)])
                    try await self.keep(part)
                    kept.withLock { $0 += part.count }
                    await body(part)
                }
            }
        } catch {
            var error = error
            error.kept = kept.withLock { $0 }
            state.withLock { state in
                state.failures += 1
                state.lastError = error
            }
            throw error
        }
        state.withLock { state in
            state.readings += 1
            state.lastError = nil
        }
        return kept.withLock { $0 }
    }

    /// Reads at once and then at intervals, until it is shut down or cancelled. Never fails. May be called once.
    public func run() async throws {
        defer { application.finish() }
        var schedule = FeedbackSchedule(configuration)
        // Once in any case: a short life is no reason to know nothing.
        repeat {
            let error = await readUnlessStopped()
            let wait = schedule.readingEnded(failed: error != nil, random: Double.random(in: 0..<1))
            if let error {
                log(
                    .feedbackFailed,
                    "feedback: \(error); \(counted(error.kept, "tuple was", "tuples were")) kept; again in "
                        + wait.words,
                    [
                        "reason": .string("\(error)"), "kept": .count(error.kept), "wait-ms": .milliseconds(wait),
                    ])
            }
            do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: wait) } } catch { break }
        } while !Task.isShuttingDownGracefully && !Task.isCancelled
    }

    /// Reads once, and no longer than ``Configuration/stopLimit`` beyond a graceful shutdown.
    private func readUnlessStopped() async -> FeedbackError? {
        await withTaskGroup(of: FeedbackError??.self) { group in
            group.addTask {
                do throws(FeedbackError) {
                    try await self.read()
                    return .some(nil)
                } catch {
                    return error
                }
            }
            group.addTask {
                do {
                    try await gracefulShutdown()
                    try await Task.sleep(for: self.configuration.stopLimit)
                } catch {}
                return nil
            }
            // Whichever is over ends the other; the reading's word counts.
            var result: FeedbackError?
            while let ended = await group.next() {
                if let outcome = ended { result = outcome }
                group.cancelAll()
            }
            return result
        }
    }

    /// Has the blacklist keep a batch, durably, and tells the application.
    private func keep(_ batch: [FeedbackTuple]) async throws(FeedbackError) {
        let learntAt = clock.wall()
        let entries = batch.compactMap { tuple in
            tuple.token.map {
                // A time that is still to come would outlive the token's next registration.
                BlacklistEntry(
                    token: $0, reason: .feedback, since: min(tuple.since, learntAt), learntAt: learntAt, route: route,
                    topic: scope.topic, endpoint: scope.endpoint)
            }
        }
        var failure: FeedbackError?
        do throws(FeedbackError) { try await store(entries) } catch { failure = error }
        var dropped = 0
        for tuple in batch {
            if case .dropped = application.yield(tuple) { dropped += 1 }
        }
        state.withLock { state in
            state.tuples += batch.count
            state.unusable += batch.count - entries.count
            state.dropped += dropped
        }
        if let failure { throw failure }
    }

    private func store(_ entries: [BlacklistEntry]) async throws(FeedbackError) {
        guard !entries.isEmpty else { return }
        let start = clock.monotonic()
        var isLast = false
        while true {
            let cause: String
            do {
                return try await blacklist.add(entries)
            } catch {
                cause = "\(error)"
                if let error = error as? JournalError, error.code == .closed || error.needsReopening {
                    isLast = true
                }
            }
            if isLast {
                let what = "\(entries.count) tokens that \(source.endpoint) named"
                throw FeedbackError(.notStored, "\(what) can't be blacklisted: \(cause)")
            }
            log(
                .feedbackNotStored, "feedback can't be blacklisted and will be tried again: \(cause)",
                ["reason": .string(cause)])
            // Once more at the end, also when the reader is stopped.
            do { try await Task.sleep(for: configuration.storeRetry) } catch { isLast = true }
            isLast = isLast || clock.monotonic() - start >= configuration.storeLimit
        }
    }
}

/// The counts of a ``FeedbackReader``, since it was made.
public struct FeedbackStatus: Hashable, Sendable {
    /// Complete readings.
    public internal(set) var readings = 0
    /// Failed readings.
    public internal(set) var failures = 0
    /// Tuples read, including those without a usable token.
    public internal(set) var tuples = 0
    /// Of ``tuples``: without a token of 1 to 100 bytes. They are passed to the application, and not blacklisted.
    public internal(set) var unusable = 0
    /// Of ``tuples``: dropped because the application was too slow.
    public internal(set) var dropped = 0
    /// The error of the last reading; `nil` if it was complete.
    public internal(set) var lastError: FeedbackError?
}
