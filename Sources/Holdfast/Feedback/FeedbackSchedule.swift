/// When the feedback is read again: after the interval, or sooner after a failure, with a backoff that grows up to it.
///
/// A pure machine: the random number is an argument.
struct FeedbackSchedule: Sendable {
    private let interval: Duration
    private let retry: RetrySchedule
    private var failures = 0

    init(_ configuration: FeedbackReader.Configuration) {
        interval = max(configuration.interval, .milliseconds(1))
        retry = RetrySchedule(
            minimum: min(max(configuration.retryMinimum, .milliseconds(1)), interval), maximum: interval)
    }

    /// A reading is over.
    ///
    /// - Parameters:
    ///   - failed: whether it ended before its time.
    ///   - random: uniformly from 0 up to 1.
    /// - Returns: how long to wait.
    mutating func readingEnded(failed: Bool, random: Double) -> Duration {
        failures = failed ? failures + 1 : 0
        return failed ? retry.delay(attempt: failures, random: random) : interval
    }
}
