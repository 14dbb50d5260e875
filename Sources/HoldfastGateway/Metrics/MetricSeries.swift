internal import CoreMetrics
internal import Holdfast
internal import Synchronization

/// The value of one name and one set of labels.
protocol MetricSeries: AnyObject, Sendable {
    func samples(_ labels: [MetricFamily.Label]) -> [MetricFamily.Sample]
}

/// A whole number that only grows (a counter).
final class CounterSeries: MetricSeries, CounterHandler {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { value.store(0, ordering: .relaxed) }

    func samples(_ labels: [MetricFamily.Label]) -> [MetricFamily.Sample] {
        [.init(suffix: "", labels: labels, value: Double(value.load(ordering: .relaxed)))]
    }
}

/// A number with fractions that only grows (a counter).
final class FloatingCounterSeries: MetricSeries, FloatingPointCounterHandler {
    private let value = Monitor(0.0)

    func increment(by amount: Double) { value.withLock { $0 += amount } }

    func reset() { value.withLock { $0 = 0 } }

    func samples(_ labels: [MetricFamily.Label]) -> [MetricFamily.Sample] {
        [.init(suffix: "", labels: labels, value: value.withLock { $0 })]
    }
}

/// The current value (a gauge).
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Monitor(0.0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    func samples(_ labels: [MetricFamily.Label]) -> [MetricFamily.Sample] {
        [.init(suffix: "", labels: labels, value: value.withLock { $0 })]
    }
}

/// Cumulative counts for each bucket (a histogram).
final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler, HistogramHandler {
    static let seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    static let bytes = [1, 4, 16, 64, 256, 1024, 4096, 16_384].map { Double($0 * 1024) }
    static let counts: [Double] = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]

    /// Those of ``Latencies``.
    static let latencies = Latencies.bounds.map(\.inSeconds)

    /// The bucket bounds, by the unit that a name ends with.
    static func bounds(of name: String) -> [Double] {
        name.hasSuffix("_seconds") ? seconds : name.hasSuffix("_bytes") ? bytes : counts
    }

    private struct State: Sendable {
        /// One for each bound, and one for values beyond the last.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Monitor<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Monitor(State(counts: [Int](repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }

    /// - Precondition: its bounds are those of ``latencies``.
    func add(_ latencies: Latencies) {
        state.withLock { state in
            for (index, count) in latencies.buckets.enumerated() where index < state.counts.count {
                state.counts[index] += count
            }
            state.sum += latencies.total.inSeconds
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    func samples(_ labels: [MetricFamily.Label]) -> [MetricFamily.Sample] {
        let state = state.withLock { $0 }
        var samples: [MetricFamily.Sample] = []
        var total = 0
        for (index, count) in state.counts.enumerated() {
            total += count
            let bound = index < bounds.count ? MetricFamily.number(bounds[index]) : "+Inf"
            samples.append(
                .init(
                    suffix: "_bucket", labels: labels + [MetricFamily.Label(name: "le", value: bound)],
                    value: Double(total)))
        }
        samples.append(.init(suffix: "_sum", labels: labels, value: state.sum))
        samples.append(.init(suffix: "_count", labels: labels, value: Double(total)))
        return samples
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
