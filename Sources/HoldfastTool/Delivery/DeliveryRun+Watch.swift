internal import Holdfast
internal import HoldfastService

/// Watches a run: what an operator sees of it, and what ends it before its time.
extension DeliveryRun {
    /// Draws the progress line, and ends the run when trying again cannot help or was tried for long enough.
    func watch(_ report: Monitor<FeedReport>) async -> Event {
        var watcher = ConnectionWatcher(giveUpAfter: options.giveUpAfter)
        var progress = ProgressWatch()
        var isStandstillSaid = false
        var meter = RateMeter()
        while !Task.isCancelled {
            let now = ContinuousClock.now - Self.epoch
            let status = engine.status()
            let finding = watcher.look(status.connections, needed: needed(status, report), at: now)
            let stalled = progress.look(sight(status, report), at: now)
            let standstill = standstill(status, report)
            let trouble = finding.trouble ?? (stalled ?? .zero >= ProgressWatch.patience ? standstill : nil)
            if let error = finding.error ?? gaveUp(stalled, trouble ?? standstill) { return .trouble(error) }
            if finding.trouble == nil, let trouble, !isStandstillSaid, !console.isInteractive {
                console.warning("\(trouble); waiting")
            }
            isStandstillSaid = finding.trouble == nil && trouble != nil
            for news in finding.news where !console.isInteractive { console.warning("\(news); trying again") }
            askForProof(status, report)
            meter.add(status.settled, at: now)
            console.showStatus(
                line(status, report.withLock { $0 }, rate: meter.rate, trouble: trouble).text(
                    width: TerminalSize.statusLine))
            do { try await Task.sleep(for: Self.look) } catch { break }
        }
        return .watchEnded
    }

    /// Routes that have something to send, or may yet get it.
    private func needed(_ status: EngineStatus, _ report: Monitor<FeedReport>) -> Set<String> {
        guard report.withLock({ $0.finished || $0.waitsForRoom != nil }) else { return [] }
        return Set(status.lanes.lazy.filter { $0.backlog > 0 && $0.stoppedBecause == nil }.map(\.key.route))
    }

    /// With nothing more to come, a barrier need not wait until the connection has been idle.
    private func askForProof(_ status: EngineStatus, _ report: Monitor<FeedReport>) {
        guard options.routes.contains(where: { $0.connector.confirmationMode == .cumulative(quietPeriod: nil) }),
            report.withLock(\.finished), status.inFlight > 0, status.inFlight == status.unconfirmed
        else { return }
        engine.writeBarriers()
    }

    /// By name, of the routes on which silence confirms.
    var quietPeriods: [String: Duration] {
        options.routes.reduce(into: [:]) { periods, route in
            if case .cumulative(let period?) = route.connector.confirmationMode { periods[route.name] = period }
        }
    }

    /// Says when silence has cleared a lane's journal.
    func sayCleared(_ events: AsyncStream<EngineEvent>, _ quietPeriods: [String: Duration]) async -> Event {
        var reporters = quietPeriods.mapValues { SilenceReporter(quietPeriod: $0) }
        for await event in events {
            guard case .cleared(let lane, let count, let through, .quiet) = event else { continue }
            let left = engine.status().lanes.first { $0.key == lane }?.backlog ?? 0
            let line = reporters[lane.route]?.cleared(
                lane, count: count, through: through, left: left, at: ContinuousClock.now - Self.epoch)
            if let line { console.note(line) }
        }
        return .watchEnded
    }

    private static let epoch = ContinuousClock.now

    private func line(_ status: EngineStatus, _ taken: FeedReport, rate: Double, trouble: String?) -> ProgressLine {
        ProgressLine(
            submitted: status.submitted, confirmed: status.confirmed, rejected: status.rejectedTotal,
            settled: status.settled,
            backlog: status.unconfirmed, inputFraction: taken.finished ? 1 : taken.fraction, rate: rate,
            trouble: trouble)
    }
}
