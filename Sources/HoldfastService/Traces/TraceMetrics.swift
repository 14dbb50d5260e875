internal import HoldfastGateway

/// The figures of traces as metrics, read on request. Docs/Operate/Traces.md says more about each.
enum TraceMetrics {
    static func families(_ queue: SpanQueue?) -> [MetricFamily] {
        guard let (figures, waiting) = queue?.figures else { return [] }
        return [
            MetricFamily(
                "holdfast_trace_spans_exported_total", .counter, "Spans that the collector has taken.",
                Double(figures.exported)),
            MetricFamily(
                "holdfast_trace_spans_dropped_total", .counter, "Spans that were dropped, by reason.",
                samples: [("overflow", figures.overflowed), ("refused", figures.refused)].map { reason, count in
                    .init(labels: [("reason", reason)], value: Double(count))
                }),
            MetricFamily(
                "holdfast_trace_spans_waiting", .gauge, "Spans that wait for their request.", Double(waiting)),
        ]
    }
}
