public import CoreMetrics
package import Holdfast

/// Keeps the metrics of swift-metrics in memory, and writes them as Prometheus' text.
///
///     let registry = MetricsRegistry()
///     let engine = try PushEngine(journal: journal, routes: routes, metrics: registry)
///     print(registry.text())
///
/// Counters are counters, meters are gauges, timers and recorders are histograms; a timer's nanoseconds become seconds.
/// Equal names and labels are one series, whoever asks for it: an engine that is made anew goes on counting where the
/// one before ended.
public final class MetricsRegistry: MetricsFactory, Sendable {
    /// The most series of one name; further ones are not kept, but cause no error: labels may come from outside.
    package static let greatestSeriesCount = 2000

    private struct Family: Sendable {
        var kind: MetricFamily.Kind
        var series: [[MetricFamily.Label]: any MetricSeries] = [:]
        var order: [[MetricFamily.Label]] = []
    }

    private let families = Monitor<[String: Family]>([:])
    private let help: [String: String]

    /// Creates an empty registry.
    ///
    /// - Parameter help: a line of help by metric name. Default: ``MetricHelp/standard``.
    public init(help: [String: String] = MetricHelp.standard) { self.help = help }

    // MARK: Reading

    /// Writes all series as text, in the order of their names.
    ///
    /// - Parameter more: families that are read on request instead of being counted.
    public func text(_ more: [MetricFamily] = []) -> String {
        var text = ""
        for family in (read() + more).sorted(by: { $0.name < $1.name }) { family.write(to: &text) }
        return text
    }

    func read() -> [MetricFamily] {
        families.withLock { $0 }.map { name, family in
            MetricFamily(
                name, family.kind, help[name] ?? MetricHelp.unknown,
                samples: family.order.flatMap { labels in family.series[labels]?.samples(labels) ?? [] })
        }
    }

    // MARK: MetricsFactory

    /// Returns the counter with this name and these labels.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { CounterSeries() } ?? NOOPMetricsHandler.instance
    }

    /// Returns the counter of fractions with this name and these labels.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter) { FloatingCounterSeries() } ?? NOOPMetricsHandler.instance
    }

    /// Returns the gauge with this name and these labels.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { GaugeSeries() } ?? NOOPMetricsHandler.instance
    }

    /// Returns the histogram with this name and these labels, or without aggregation the gauge.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else {
            return series(label, dimensions, .gauge) { GaugeSeries() } ?? NOOPMetricsHandler.instance
        }
        return series(label, dimensions, .histogram) { HistogramSeries(bounds: HistogramSeries.bounds(of: label)) }
            ?? NOOPMetricsHandler.instance
    }

    /// Returns the histogram of seconds with this name and these labels.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram) { HistogramSeries(bounds: HistogramSeries.seconds) }
            ?? NOOPMetricsHandler.instance
    }

    // A series is kept: the next user of its name goes on with it.
    /// Does nothing: a series is kept.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing: a series is kept.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Does nothing: a series is kept.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing: a series is kept.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing: a series is kept.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// Removes every series with this label: what it was about is gone.
    package func removeSeries(label: String, value: String) {
        let label = MetricFamily.Label(name: MetricFamily.labelName(label), value: value)
        families.withLock { families in
            families = families.mapValues { family in
                var family = family
                family.order.removeAll { $0.contains(label) }
                family.series = family.series.filter { !$0.key.contains(label) }
                return family
            }
        }
    }

    /// - Returns: nil beyond ``greatestSeriesCount``, and for a name that has another kind already.
    private func series<Series: MetricSeries>(
        _ label: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind, make: () -> Series
    ) -> Series? {
        let name = MetricFamily.name(label)
        let labels = dimensions.map { MetricFamily.Label(name: MetricFamily.labelName($0.0), value: $0.1) }
        return families.withLock { families in
            var family = families[name] ?? Family(kind: kind)
            guard family.kind == kind else { return nil }
            if let known = family.series[labels] { return known as? Series }
            guard family.series.count < Self.greatestSeriesCount else { return nil }
            let series = make()
            family.series[labels] = series
            family.order.append(labels)
            families[name] = family
            return series
        }
    }
}

extension MetricsRegistry: HistogramFactory {
    /// Returns the histogram of latencies with this name and these labels.
    package func makeHistogram(label: String, dimensions: [(String, String)]) -> any HistogramHandler {
        series(label, dimensions, .histogram) { HistogramSeries(bounds: HistogramSeries.latencies) }
            ?? HistogramSeries(bounds: HistogramSeries.latencies)
    }
}
