internal import Logging

/// Where the library's lines go: at their level, with their name and what they are about as metadata, and no more often
/// than ``LogLimiter`` admits. From any thread.
struct EngineLog: Sendable {
    /// The default of the least interval between two lines of one kind.
    static let standardInterval = Duration.seconds(60)

    private let logger: Logger
    private let clock: EngineClock
    private let limiter: Monitor<LogLimiter<LogLine>>

    /// - Parameter route: goes with every line. Each route has its own limits.
    init(_ logger: Logger, clock: EngineClock, interval: Duration = standardInterval, route: String? = nil) {
        var logger = logger
        if let route { logger[metadataKey: "route"] = .string(route) }
        self.logger = logger
        self.clock = clock
        limiter = Monitor(LogLimiter(interval: interval))
    }

    /// Writes the line of a condition that has begun, changed or ended.
    func tell(_ change: Conditions.Change) { logger.tell(change) }

    /// Builds neither message nor metadata of a line that is not logged.
    ///
    /// - Parameter metadata: holds no token, payload or credential.
    func callAsFunction(
        _ line: LogLine, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Logger.Metadata = [:]
    ) {
        guard logger.logLevel <= line.level else { return }
        var leftOut = 0
        if line.isLimited {
            let now = clock.monotonic()
            guard let count = limiter.withLock({ $0.admit(line, now: now) }) else { return }
            leftOut = count
        }
        var metadata = metadata()
        metadata["event"] = .string(line.rawValue)
        if leftOut > 0 { metadata["left-out"] = .stringConvertible(leftOut) }
        let suffix = leftOut > 0 ? " (and \(leftOut) more like this since the last one that was logged)" : ""
        logger.log(level: line.level, "\(message())\(suffix)", metadata: metadata)
    }
}

extension Logger.MetadataValue {
    static func count(_ count: Int) -> Self { .stringConvertible(count) }

    static func lane(_ key: LaneKey) -> Self { .string(key.description) }

    static func milliseconds(_ duration: Duration) -> Self { .stringConvertible(duration.fractionalMilliseconds) }

    /// `12...40`, or `12` for one.
    static func uids(_ first: UID, _ last: UID) -> Self {
        .string(first == last ? "\(first)" : "\(first)...\(last)")
    }
}

extension Duration {
    /// To a thousandth.
    var fractionalMilliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double(attoseconds / 1_000_000_000_000) / 1000
    }

    /// For people: `2.5`, `50.0`, `123`, in at most three digits below a second.
    var shortMilliseconds: String {
        let milliseconds = fractionalMilliseconds
        if milliseconds >= 100 { return "\(Int(milliseconds.rounded()))" }
        let scale = milliseconds < 10 ? 100.0 : 10
        return "\((milliseconds * scale).rounded() / scale)"
    }
}
