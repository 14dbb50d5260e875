internal import Holdfast
internal import Logging

/// What the connections of one binary listener share.
final class BinaryService: Sendable {
    private struct State: Sendable {
        var settings: BinaryIngressConfiguration
        /// Connections that have something which is not on disk, also those that are closed already.
        var unfinished = 0
    }

    let producer: Producer
    let logger: Logger
    let figures = IngressFigures()
    let rate: SharedRate
    private let state: Monitor<State>

    init(_ settings: BinaryIngressConfiguration, producer: Producer, logger: Logger) {
        self.producer = producer
        self.logger = logger
        rate = SharedRate(settings.rate)
        state = Monitor(State(settings: settings))
    }

    var settings: BinaryIngressConfiguration {
        get { state.withLock(\.settings) }
        set {
            state.withLock { $0.settings = newValue }
            rate.change(to: newValue.rate)
        }
    }

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
