internal import Holdfast
internal import HoldfastGateway

/// What operators and their machines see of it.
extension ServiceRun {
    func makeAdmin() -> AdminServer? {
        let settings = state.withLock(\.configuration.admin)
        guard let listen = settings.listen else { return nil }
        var configuration = AdminConfiguration(listen: listen)
        configuration.servesEverybody = settings.everybody
        configuration.connections = settings.connections
        do throws(GatewayError) {
            return try AdminServer(
                configuration, logger: log.logger("holdfast.admin"), health: { [self] in health },
                metrics: { [self] in metrics })
        } catch {
            state.withLock { $0.failure = ServiceFailure(error).toolError }
            return nil
        }
    }

    func keep(_ admin: AdminServer) async {
        do {
            try await admin.run()
        } catch {
            state.withLock { $0.failure = ServiceFailure(error).toolError }
            await end()
        }
    }

    /// Whether senders are served, and why not.
    var health: Health {
        let (obstacle, life) = state.withLock { ($0.obstacle, $0.life) }
        let status = life?.engine.status()
        return Health(
            obstacles: [obstacle ?? watch.obstacle(wantsRoom: life?.wantsRoom), status.flatMap(HealthWarnings.damage)].compactMap(\.self),
            warnings: status.map(HealthWarnings.of) ?? [])
    }

    private var metrics: String {
        let (state, isReady) = (state.withLock { $0 }, health.isReady)
        return registry.text(
            (state.life?.gateway.metricFamilies ?? []) + ProcessMetrics.families + [
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
            ])
    }
}
