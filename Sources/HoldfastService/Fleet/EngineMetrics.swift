internal import CoreMetrics
internal import HoldfastGateway

/// Where the figures of a service's engines go: to the page of the service, and to the host's own factory.
struct EngineMetrics: Sendable {
    var registry = MetricsRegistry()
    /// Nil for nobody else.
    var host: (any MetricsFactory)?

    /// For the engine of the service's own journal.
    var own: [any MetricsFactory] { [registry] + (host.map { [$0] } ?? []) }

    /// For the engine of a journal that was taken over: the same figures with one more label, and for the page alone, where they
    /// go when the engine does.
    func taken(journal: String) -> LabelledMetrics { LabelledMetrics(registry, label: "journal", value: journal) }
}
