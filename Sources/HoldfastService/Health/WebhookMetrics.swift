internal import HoldfastGateway
internal import HoldfastWebhooks

/// The figures of webhooks as metrics, read on request. Docs/Operate/Observability.md says more about each.
enum WebhookMetrics {
    static func families(_ standings: [WebhookStanding]) -> [MetricFamily] {
        guard !standings.isEmpty else { return [] }
        func family(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (WebhookStanding) -> Double
        ) -> MetricFamily {
            MetricFamily(
                "holdfast_webhook_\(name)", kind, help,
                samples: standings.map { .init(labels: [("webhook", $0.name)], value: value($0)) })
        }
        return [
            family("delivered_total", .counter, "Outcomes that the receiver has taken.") {
                Double($0.figures.delivered)
            },
            MetricFamily(
                "holdfast_webhook_requests_total", .counter, "Requests to the receiver, by result.",
                samples: standings.flatMap { standing in
                    [("taken", standing.figures.taken), ("failed", standing.figures.failed)].map { result, count in
                        .init(labels: [("webhook", standing.name), ("result", result)], value: Double(count))
                    }
                }),
            family("possible_duplicates_total", .counter, "Outcomes taken that the receiver may have had already.") {
                Double($0.figures.possibleDuplicates)
            },
            family("missed_total", .counter, "Outcomes that were deleted before they were told, or can't be read.") {
                Double($0.figures.missed)
            },
            family(
                "skipped_total", .counter,
                "Outcomes that were passed over, because the receiver refuses them and takes others."
            ) { Double($0.figures.skipped) },
            family("waiting", .gauge, "Outcomes behind its cursor, of all producers.") { Double($0.waiting) },
            family("lag_seconds", .gauge, "Since the oldest outcome ended that is to be told; 0 for none.") {
                Double($0.lag.components.seconds) + Double($0.lag.components.attoseconds) / 1e18
            },
            family("failing", .gauge, "1 while the last request failed.") { $0.figures.failingSince == nil ? 0 : 1 },
            family("last_status", .gauge, "Status of the last answer; 0 where there was none.") {
                Double($0.figures.lastStatus ?? 0)
            },
        ]
    }
}
