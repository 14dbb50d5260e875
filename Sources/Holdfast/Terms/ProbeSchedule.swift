/// When a stopped lane, or a topic that the service refuses, is probed with one entry: after growing pauses with jitter, so
/// that many senders do not probe at the same time.
///
/// A pure function of what came before; the random number is an argument.
public struct ProbeSchedule: Hashable, Sendable {
    /// The upper bound of the first pause. Default: 1 s.
    public var minimum: Duration = .seconds(1)
    /// The upper bound of every pause; the pause doubles up to it. Default: 10 min.
    public var maximum: Duration = .seconds(10 * 60)
    /// The timeout of a probe's answer, after which another one is sent. Default: 60 s.
    public var answerLimit: Duration = .seconds(60)

    /// Creates the default schedule.
    public init() {}

    /// The pause before the next probe.
    ///
    /// - Parameters:
    ///   - failures: probes that failed in a row.
    ///   - random: uniformly from 0 up to, not including, 1.
    /// - Returns: between half of the bound (never a busy loop) and the bound.
    package func pause(after failures: Int, random: Double) -> Duration {
        let bound = min(
            max(minimum, .milliseconds(1)) * (1 << min(failures, 30)), max(maximum, minimum, .milliseconds(1)))
        return bound * (0.5 + random / 2)
    }
}
