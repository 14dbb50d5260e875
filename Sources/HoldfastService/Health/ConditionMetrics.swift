internal import Holdfast
internal import HoldfastGateway

/// What is wrong, as a metric: for alarms, whose names are those of the runbook's sections.
enum ConditionMetrics {
    /// The most of a kind that have a sample of their own.
    static let greatestCount = 100

    static func family(_ conditions: [HealthCondition]) -> MetricFamily {
        let shown = Dictionary(grouping: conditions, by: \.kind).values.flatMap { $0.prefix(greatestCount) }
            .sorted(by: HealthCondition.isBefore)
        return MetricFamily(
            "holdfast_condition", .gauge, "1 for each thing that is wrong, or that an operator holds up.",
            samples: shown.map { condition in
                .init(
                    labels: [
                        ("kind", condition.kind.rawValue), ("about", condition.about), ("subject", condition.subject),
                        ("severity", condition.severity.rawValue),
                    ], value: 1)
            })
    }
}
