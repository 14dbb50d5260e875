internal import Holdfast
internal import HoldfastGateway
internal import HoldfastPostgres

/// The figures of a service beside those of its engines, read on request. Docs/Operate/Service.md says more about each.
extension ServiceRun {
    /// All figures in Prometheus' text format.
    package var metrics: String {
        let (state, isReady) = (state.withLock { $0 }, health.isReady)
        return registry.text(
            (state.life?.gateway.metricFamilies ?? []) + ProcessMetrics.families + historyMetrics
                + WebhookMetrics.families(state.life?.webhookStandings ?? [])
                + Self.lifeMetrics(state, isReady: isReady) + [
                    buildInfo, unservedMetrics, conditionMetrics(state.life), certificateMetrics(state),
                ])
    }

    private static func lifeMetrics(_ state: State, isReady: Bool) -> [MetricFamily] {
        [
            MetricFamily("holdfast_ready", .gauge, "1 while senders are served.", isReady ? 1 : 0),
            MetricFamily(
                "holdfast_journal_reopened_total", .counter, "Times that the journal failed and was opened anew.",
                Double(state.reopened)),
            MetricFamily(
                "holdfast_reloads_total", .counter, "Times that the configuration was read again, by result.",
                samples: [
                    .init(labels: [("result", "taken")], value: Double(state.reloads)),
                    .init(labels: [("result", "refused")], value: Double(state.failedReloads)),
                ]),
        ]
    }

    /// None where the program is the application's.
    private var buildInfo: MetricFamily {
        MetricFamily(
            "holdfast_build_info", .gauge, "1, with the version of the program.",
            samples: host.build.map { build in
                [.init(labels: [("version", build.version), ("commit", build.commit)], value: 1)]
            } ?? [])
    }

    private var unservedMetrics: MetricFamily {
        MetricFamily(
            "holdfast_unserved_entries", .gauge, "Notifications in lanes whose route the configuration does not have.",
            samples: unserved.map { lane in
                .init(
                    labels: [
                        ("route", lane.key.route), ("lane", "\(lane.key.urgency.name)/\(lane.key.guarantee.name)"),
                    ], value: Double(lane.unconfirmed))
            })
    }

    /// What is wrong, the worst of each kind first.
    private func conditionMetrics(_ life: ServiceLife?) -> MetricFamily {
        let own = life?.engine.status().conditions ?? []
        let taken = life?.fleet?.taken.map { ($0.owned.name, $0.engine.status().conditions) } ?? []
        return MetricFamily(
            "holdfast_condition", .gauge, "1 for each condition that holds; the runbook has a section for each kind.",
            samples: Self.samples(of: own)
                + taken.flatMap { name, conditions in Self.samples(of: conditions, more: [("journal", name)]) })
    }

    /// The most conditions of one kind that are told, of one journal.
    private static let greatestConditionCount = 20

    static func samples(
        of conditions: [HealthCondition], more: [(String, String)] = []
    ) -> [MetricFamily.Sample] {
        var counts: [HealthCondition.Kind: Int] = [:]
        return conditions.filter { condition in
            counts[condition.kind, default: 0] += 1
            return counts[condition.kind, default: 0] <= greatestConditionCount
        }.map { condition in
            .init(
                labels: [
                    ("kind", condition.kind.rawValue), ("about", condition.about),
                    ("subject", condition.subject.printable(maximumLength: 256)),
                    ("severity", condition.severity.rawValue),
                ] + more, value: 1)
        }
    }

    /// Until when the certificates in use are valid. Provider tokens' keys have no end.
    private func certificateMetrics(_ state: State) -> MetricFamily {
        let listeners = (state.life?.gateway.certificateEnds ?? []).map { ("listener", $0.name, $0.end) }
        let routes = state.routes.compactMap { ready in
            (ready.route.connector as? any ExpiringConnector)?.certificateEnd
                .map { ("route", ready.settings.name, $0) }
        }
        return MetricFamily(
            "holdfast_certificate_expiry_timestamp_seconds", .gauge,
            "Unix time until which a certificate in use is valid.",
            samples: (listeners + routes).map { use, name, end in
                .init(labels: [("use", use), ("name", name)], value: Double(end.seconds))
            })
    }

    /// What can be found of ended notifications, and how far its readers are behind. None while no journal is open.
    private var historyMetrics: [MetricFamily] {
        let history: OutcomeLogStatus?
        do throws(JournalError) {
            history = try state.withLock(\.life)?.history()
        } catch {
            // It is closed, or fails: whoever needs it says so.
            history = nil
        }
        guard let history else { return [] }
        return [
            MetricFamily(
                "holdfast_history_outcomes", .gauge, "Ended notifications that can be found.", Double(history.count)),
            MetricFamily(
                "holdfast_history_bytes", .gauge, "Bytes of the journal that ended notifications take.",
                Double(history.bytes)),
            MetricFamily(
                "holdfast_outcome_reader_lag", .gauge, "Outcomes behind a reader's cursor, of all producers.",
                samples: history.readers.map { reader in
                    .init(labels: [("reader", reader.name)], value: Double(history.unread(by: reader)))
                }),
        ]
    }
}
