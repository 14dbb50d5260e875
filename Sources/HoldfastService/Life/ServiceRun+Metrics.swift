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
                + TraceMetrics.families(exporter?.queue)
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

    /// What is wrong with the service, and with journals that it has taken over.
    private func conditionMetrics(_ life: ServiceLife?) -> MetricFamily {
        let taken = (life?.fleet?.taken ?? []).map { (name: $0.owned.name, conditions: $0.engine.status().conditions) }
        return ConditionMetrics.family(conditions.filter { $0.journal == nil }, taken: taken)
    }

    /// Until when the certificates in use are valid. Provider tokens' keys have no end.
    private func certificateMetrics(_ state: State) -> MetricFamily {
        let listeners = (state.life?.gateway.certificates ?? []).map { certificate in
            ("listener", certificate.listener, WallTime(seconds: certificate.notAfter))
        }
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
