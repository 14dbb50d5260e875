internal import Holdfast
internal import HoldfastGateway

/// What is wrong, as a metric: for alarms, whose names are those of the runbook's sections.
enum ConditionMetrics {
    /// The most of a kind that have a sample of their own, for each journal.
    static let greatestCount = 100

    /// - Parameter taken: the conditions of journals that were taken over from other hosts, by the journal's name.
    static func family(
        _ conditions: [HealthCondition], taken: [(name: String, conditions: [HealthCondition])] = []
    ) -> MetricFamily {
        MetricFamily(
            "holdfast_condition", .gauge, "1 for each thing that is wrong, or that an operator holds up.",
            samples: samples(conditions)
                + taken.flatMap { name, conditions in samples(conditions, more: [("journal", name)]) })
    }

    private static func samples(
        _ conditions: [HealthCondition], more: [(String, String)] = []
    ) -> [MetricFamily.Sample] {
        let shown = Dictionary(grouping: conditions, by: \.kind).values.flatMap { $0.prefix(greatestCount) }
            .sorted(by: HealthCondition.isBefore)
        return shown.map { condition in
            .init(
                labels: [
                    ("kind", condition.kind.rawValue), ("about", condition.about), ("subject", condition.subject),
                    ("severity", condition.severity.rawValue),
                ] + more, value: 1)
        }
    }
}
