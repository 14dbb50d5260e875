public import CoreMetrics
internal import Holdfast

/// Keeps the metrics of swift-metrics in memory, to be read as Prometheus' text.
///
///     let registry = MetricsRegistry()
///     let engine = try PushEngine(journal: journal, routes: routes, metrics: registry)
///     print(registry.text())
///
/// Counters are counters, meters are gauges, timers and recorders are histograms; a timer's nanoseconds become seconds. The
/// same name and labels are the same series, whoever asks for it and however often: an engine that is made anew goes on
/// counting where its forerunner ended.
public final class MetricsRegistry: MetricsFactory, Sendable {
    /// Series of one name, beyond which more are not kept: labels may come from outside. Nothing is refused for it.
    public static let greatestSeriesCount = 2000

    private struct Family: Sendable {
        var kind: MetricFamily.Kind
        var series: [[MetricFamily.Label]: any MetricSeries] = [:]
        var order: [[MetricFamily.Label]] = []
    }

    private let families = Monitor<[String: Family]>([:])
    private let help: [String: String]

    /// - Parameter help: a line for each name that has one; default: ``MetricHelp/standard``.
    public init(help: [String: String] = MetricHelp.standard) { self.help = help }

    // MARK: Reading

    /// All of it as text, in the order of the names.
    ///
    /// - Parameter more: what is not counted but looked up when somebody asks.
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

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { CounterSeries() } ?? NOOPMetricsHandler.instance
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter) { FloatingCounterSeries() } ?? NOOPMetricsHandler.instance
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { GaugeSeries() } ?? NOOPMetricsHandler.instance
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else {
            return series(label, dimensions, .gauge) { GaugeSeries() } ?? NOOPMetricsHandler.instance
        }
        return series(label, dimensions, .histogram) { HistogramSeries(bounds: HistogramSeries.bounds(of: label)) }
            ?? NOOPMetricsHandler.instance
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram) { HistogramSeries(bounds: HistogramSeries.seconds) }
            ?? NOOPMetricsHandler.instance
    }

    // A series is kept: what comes after goes on with it.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// - Returns: nil for one too many, and for a name that is of another kind already.
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
