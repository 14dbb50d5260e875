internal import Holdfast
internal import HoldfastControl

/// The last hour in figures: one sample for every ten seconds, in memory, and the one that is being counted.
final class PageSamples: Sendable {
    /// What happened in some seconds, and what was then.
    struct Sample: Encodable, Sendable {
        /// When it ended.
        var at: ExactTime
        /// How long it was.
        var seconds: Double
        var submitted = 0
        var refused = 0
        var confirmed = 0
        /// Rejections by reason.
        var rejected: [String: Int] = [:]
        var deferred = 0
        var unconfirmed = 0
        /// The age of the oldest that waits for its turn; absent for none.
        var oldestSeconds: Double?
        /// From acceptance to confirmation, of the newest that were confirmed; absent for none, and while no history is kept.
        var latency: Latency?
        /// Of senders to this service, and of this service to the push services.
        var senderConnections = 0
        var serviceConnections = 0
    }

    struct Latency: Encodable, Sendable {
        var p50: Double
        var p99: Double
        /// Notifications that were looked at.
        var count: Int
    }

    struct Hour: Encodable {
        var intervalSeconds: Int
        var samples: [Sample]
        /// What is being counted.
        var current: Sample?
    }

    static let interval = Duration.seconds(10)
    static let limit = 360
    /// Reasons that are told apart in one sample.
    static let greatestReasonCount = 12

    private struct State: Sendable {
        var samples: [Sample] = []
        var current: Sample?
    }

    private let state = Monitor(State())

    var form: Hour {
        state.withLock { state in
            Hour(
                intervalSeconds: Int(Self.interval.components.seconds), samples: state.samples, current: state.current)
        }
    }

    var current: Sample? { state.withLock(\.current) }

    /// Shows what was counted so far.
    func show(_ sample: Sample) { state.withLock { $0.current = sample } }

    /// Keeps a sample, and no longer the one of an hour ago.
    func keep(_ sample: Sample) {
        state.withLock { state in
            state.current = nil
            state.samples.append(sample)
            if state.samples.count > Self.limit { state.samples.removeFirst(state.samples.count - Self.limit) }
        }
    }
}
