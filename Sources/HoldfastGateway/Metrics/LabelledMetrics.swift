package import CoreMetrics
package import Holdfast

/// The metrics of one of several engines in a process: a registry's, each with one more label.
package final class LabelledMetrics: MetricsFactory, HistogramFactory, Sendable {
    private let registry: MetricsRegistry
    private let label: (name: String, value: String)

    /// Creates a view of the registry.
    package init(_ registry: MetricsRegistry, label: String, value: String) {
        self.registry = registry
        self.label = (label, value)
    }

    /// Removes all series of this view: what they were about is gone.
    package func remove() { registry.removeSeries(label: label.name, value: label.value) }

    private func labelled(_ dimensions: [(String, String)]) -> [(String, String)] { dimensions + [label] }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        registry.makeCounter(label: label, dimensions: labelled(dimensions))
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        registry.makeFloatingPointCounter(label: label, dimensions: labelled(dimensions))
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        registry.makeMeter(label: label, dimensions: labelled(dimensions))
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        registry.makeRecorder(label: label, dimensions: labelled(dimensions), aggregate: aggregate)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        registry.makeTimer(label: label, dimensions: labelled(dimensions))
    }

    package func makeHistogram(label: String, dimensions: [(String, String)]) -> any HistogramHandler {
        registry.makeHistogram(label: label, dimensions: labelled(dimensions))
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}
