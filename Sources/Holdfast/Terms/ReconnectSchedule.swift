/// When a route connects again after a failure: exponential backoff with full jitter, so that a fleet of senders does not
/// reconnect at the same time.
///
/// A pure machine: the random number is an argument.
struct ReconnectSchedule: Sendable {
    let minimum: Duration
    let maximum: Duration
    private(set) var failures = 0

    init(minimum: Duration, maximum: Duration) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Records a connection that failed, or ended without a single answer.
    ///
    /// - Parameter random: uniformly from 0 up to 1.
    /// - Returns: how long to wait.
    mutating func failed(random: Double) -> Duration {
        let bound = min(minimum * (1 << min(failures, 30)), maximum)
        failures += 1
        return bound * random
    }

    /// Adds so many failures at once.
    mutating func skip(_ count: Int) { failures += count }

    /// Records an answer: the next connection may be made at once.
    mutating func worked() { failures = 0 }
}
