internal import Holdfast
internal import Logging
internal import NIOCore

/// What the connections of one binary listener share.
final class BinaryService: Sendable {
    private struct State: Sendable {
        var settings: BinaryIngressConfiguration
        var rate: RateLimiter?
        /// Connections that have something which is not on disk, also those that are closed already.
        var unfinished = 0
    }

    let producer: Producer
    let logger: Logger
    let figures = IngressFigures()
    private let state: Monitor<State>

    init(_ settings: BinaryIngressConfiguration, producer: Producer, logger: Logger) {
        self.producer = producer
        self.logger = logger
        state = Monitor(State(settings: settings, rate: settings.rate.map(RateLimiter.init)))
    }

    var settings: BinaryIngressConfiguration {
        get { state.withLock(\.settings) }
        set {
            state.withLock { state in
                if newValue.rate != state.settings.rate { state.rate = newValue.rate.map(RateLimiter.init) }
                state.settings = newValue
            }
        }
    }

    // MARK: The rate, of all connections

    /// How many notifications may be read now, of `wanted`; and when there is one, when to ask again.
    func allowance() -> (count: Int, again: TimeAmount?) {
        let now = producer.clock.monotonic()
        return state.withLock { state in
            guard let count = state.rate?.allowance(now: now) else { return (.max, nil) }
            guard count == 0, let next = state.rate?.nextAllowance(now: now) else { return (count, nil) }
            return (0, TimeAmount(next - now))
        }
    }

    func took(_ count: Int) { state.withLock { $0.rate?.take(count) } }

    // MARK: What is not on disk

    func begin() { state.withLock { $0.unfinished += 1 } }

    func finish() { state.withLock { $0.unfinished -= 1 } }

    /// Returns when no connection has anything that is not on disk, or at the deadline.
    func untilFinished(by deadline: ContinuousClock.Instant) async {
        while state.withLock({ $0.unfinished > 0 }), ContinuousClock.now < deadline {
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
        }
    }
}
