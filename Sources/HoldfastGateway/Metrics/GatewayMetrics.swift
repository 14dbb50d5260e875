/// The counters of the listeners as metrics, read on request.
extension Gateway {
    /// The metrics of all listeners. Names and labels: Docs/Operate/Service.md.
    public var metricFamilies: [MetricFamily] {
        let figures = figures
        func family(
            _ name: String, _ kind: MetricFamily.Kind, _ help: String,
            _ value: (IngressFigures.Values, Int) -> Int
        ) -> MetricFamily {
            MetricFamily(
                "holdfast_gateway_\(name)", kind, help,
                samples: figures.map { figure in
                    .init(
                        labels: [("listener", figure.name)], value: Double(value(figure.values, figure.openConnections))
                    )
                })
        }
        func counts(
            _ name: String, _ label: String, _ help: String, _ counts: (IngressFigures.Values) -> [String: Int]
        ) -> MetricFamily {
            MetricFamily(
                "holdfast_gateway_\(name)", .counter, help,
                samples: figures.flatMap { figure in
                    counts(figure.values).sorted { $0.key < $1.key }.map { word, count in
                        .init(labels: [("listener", figure.name), (label, word)], value: Double(count))
                    }
                })
        }
        return [
            family("connections", .gauge, "Connections of senders that are open.") { $1 },
            MetricFamily(
                "holdfast_gateway_connections_limit", .gauge, "Connections of senders that may be open at a time.",
                samples: connectionLimits.map { name, limit in
                    .init(labels: [("listener", name)], value: Double(limit))
                }),
            family("accepted_total", .counter, "Notifications of senders that are on disk.") { values, _ in
                values.accepted
            },
            family("repeated_total", .counter, "Notifications that had been accepted before.") { values, _ in
                values.repeated
            },
            counts(
                "refused_total", "reason",
                "Refusals of notifications, by the word that was answered; one that comes again counts again.",
                \.refused),
            counts(
                "told_total", "outcome", "Notifications whose senders were told of their outcome, by its word.", \.told),
            family("unanswered_total", .counter, "Notifications of which their sender was told nothing.") { values, _ in
                values.unanswered
            },
            family("feedback_tuples_total", .counter, "Blacklisted tokens told to readers of feedback.") { values, _ in
                values.tuples
            },
            counts("faults_total", "fault", "Connections that were ended for what their client did.") { values in
                // From the beginning, or nobody would see the first increase.
                [ListenerFault.connections, .descriptors].reduce(into: values.faults) { counts, fault in
                    counts[fault.rawValue, default: 0] += 0
                }
            },
        ]
    }
}
