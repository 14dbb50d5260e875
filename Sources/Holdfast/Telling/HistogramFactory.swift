package import CoreMetrics

/// A metrics factory that takes latencies by the count of each bucket. swift-metrics itself takes them one by one only.
package protocol HistogramFactory: MetricsFactory {
    /// Returns the histogram with this name and these labels, with the buckets of ``Latencies``.
    func makeHistogram(label: String, dimensions: [(String, String)]) -> any HistogramHandler
}

/// Takes latencies by the count of each bucket.
package protocol HistogramHandler: AnyObject, Sendable {
    /// Adds them.
    func add(_ latencies: Latencies)
}

/// A histogram of ``Latencies`` at a factory: by count where it takes that, else one value for each notification.
struct LatencyMetric: Sendable {
    private enum Handle: Sendable {
        case histogram(any HistogramHandler)
        case timer(Timer)
    }

    private let handle: Handle

    init(_ name: MetricName, _ values: [String], _ factory: any MetricsFactory) {
        handle =
            if let factory = factory as? any HistogramFactory {
                .histogram(factory.makeHistogram(label: name.rawValue, dimensions: name.dimensions(values)))
            } else {
                .timer(Timer(label: name.rawValue, dimensions: name.dimensions(values), factory: factory))
            }
    }

    /// - A timer gets the bound of each one's bucket, and of the longest one no more than that.
    func add(_ latencies: Latencies) {
        switch handle {
        case .histogram(let histogram): histogram.add(latencies)
        case .timer(let timer):
            for (index, count) in latencies.buckets.enumerated() where count > 0 {
                let bound = index < Latencies.bounds.count ? Latencies.bounds[index] : latencies.greatest
                let value = min(bound, latencies.greatest).nanoseconds
                for _ in 0..<count { timer.recordNanoseconds(value) }
            }
        }
    }
}
