internal import Holdfast
internal import HoldfastControl
package import HoldfastGateway
internal import HoldfastPostgres
internal import Logging

/// The service as operators and their machines see it.
extension ServiceRun {
    func makeAdmin() -> AdminServer? {
        let whole = state.withLock { $0.configuration }
        let settings = whole.admin
        guard let listen = settings.listen else { return nil }
        var configuration = AdminConfiguration(listen: listen)
        configuration.servesEverybody = settings.everybody
        configuration.logInterval = whole.log.interval
        configuration.connections =
            DescriptorLimit.current.map { DescriptorPlan(whole).adminConnections(within: $0.soft) }
            ?? settings.connections
        do {
            let token = try settings.tokenFile.map { (file) throws(OperatorToken.Fault) in try OperatorToken(file: file)
            }
            state.withLock { $0.operatorToken = token }
            return try AdminServer(
                configuration, logger: host.logger("holdfast.admin"), health: { [self] in health },
                metrics: { [self] in metrics }, pages: pages(token, configuration))
        } catch let fault as OperatorToken.Fault {
            state.withLock { $0.failure = GatewayError(.configuration, fault.message) }
        } catch {
            state.withLock { $0.failure = error }
        }
        return nil
    }

    /// The operators' page, and what only those may read who have the operators' token.
    private func pages(_ token: OperatorToken?, _ configuration: AdminConfiguration) -> [AdminPage] {
        let settings = state.withLock(\.configuration.admin)
        // What streams and waits leaves connections for probes.
        let streams = min(settings.streams, configuration.connections - 1)
        let waits = (configuration.connections - streams) / 2
        let places = WaitPlaces(limit: streams)
        let wrong = WrongTokens(pageService.logger)
        var pages: [AdminPage] = []
        if hasPage {
            let access = PageAccess(
                token: token, isLoopback: configuration.listen.isLoopback && !settings.everybody,
                wrong: wrong)
            pages += OperatorPage(access: access, service: pageService, streams: places).pages
        }
        guard let token else { return pages }
        return pages + [
            OutcomesPage(token: token, wrong: wrong, places: WaitPlaces(limit: waits)) { [self] in engine?.desk }.page,
            OutcomeStreamPage(token: token, wrong: wrong, places: places) { [self] in engine }.page,
        ]
    }

    func keep(_ admin: AdminServer) async {
        do {
            try await admin.run()
        } catch {
            state.withLock { $0.failure = error }
            await end()
        }
    }

    /// Whether senders are served, and why not.
    package var health: Health {
        let (obstacle, life) = state.withLock { state in
            // Whoever ends waits for nothing.
            (
                state.isEnding ? state.obstacle : state.wait?.obstacle(at: EngineClock.system.wall()) ?? state.obstacle,
                state.life
            )
        }
        let status = life?.engine.status()
        let obstacles = [
            obstacle ?? life?.away?.message ?? watch.obstacle(wantsRoom: life?.wantsRoom),
            status.flatMap(HealthWarnings.damage),
        ].compactMap(\.self)
        return Health(
            obstacles: obstacles,
            warnings: (life?.fleet?.warnings ?? [])
                // Those are said in their moment.
                + HealthWarnings.of(
                    conditions.filter { $0.kind != .databaseTrouble }, isReady: obstacles.isEmpty))
    }

    /// What is wrong, the worst first, and what operators hold up.
    var conditions: [HealthCondition] {
        let (configuration, life, failure, wait, isEnding) = state.withLock { state in
            (state.configuration, state.life, state.journalFailure, state.wait, state.isEnding)
        }
        // What is wrong is not over because the service ends, and not begun before it serves; unless that is why it does not.
        let waiting = wait?.error
        let noRoom = wait.flatMap { $0.lacksRoom ? $0.words : nil }
        guard !isEnding, life != nil || failure != nil || waiting != nil || noRoom != nil else { return findings.all }
        var now = ServiceFindings(failure: failure, away: life?.away ?? waiting, unserved: unserved)
        now.fleet = { [record] now in record.conditions + (life?.fleet?.conditions(now: now) ?? []) }
        now.noRoom = noRoom
        now.webhooks = life?.webhookStandings ?? []
        now.certificates = life?.gateway.certificates ?? []
        now.descriptors = DescriptorLimit.current.flatMap { DescriptorPlan(configuration).warning(within: $0.soft) }
        now.refusedReload = state.withLock(\.refusedReload)
        now.turnedAway = life?.gateway.turnedAway ?? 0
        let own = Set((life?.engine.ownConditions ?? []).map(\.kind))
        let found = findings.look(isBlind: life == nil, engine: own.intersection([.databaseAway]), now.conditions)
        guard let engine = life?.engine else { return found }
        let taken = lookAtTaken(life?.fleet?.taken ?? [])
        engine.setHostConditions(found + taken.flatMap(\.conditions), takenOver: taken.map(\.depth))
        return engine.status().conditions
    }

    /// Looks again and again, until it is cancelled. On a thread of its own: the timers of tasks stand still where a library moves
    /// this process's clocks (libfaketime), or all threads of tasks are busy. Then nothing would be told before somebody asks.
    func watchConditions() async {
        let isOver = Monitor(false)
        await withTaskCancellationHandler {
            await OwnThread.run("holdfast-conditions") { self.lookAtConditions(until: isOver) }
        } onCancel: {
            isOver.withLock { $0 = true }
            isOver.broadcast()
        }
    }

    private func lookAtConditions(until isOver: Monitor<Bool>) {
        var hasSaid = false
        repeat {
            _ = conditions
            if !hasSaid, let words = endWait {
                hasSaid = true
                logger.warning("\(words)")
            }
        } while isOver.wait(atMost: ServiceConditions.interval, for: { $0 ? true : nil }) == nil
    }

    /// A line about the database, for which the end of this host waits beyond the limits of its configuration; nil while it does not end,
    /// or nothing is in the way.
    private var endWait: String? {
        let (isEnding, life) = state.withLock { ($0.isEnding, $0.life) }
        guard isEnding, let words = life?.away?.message ?? life?.fleet?.troubles.first?.words else { return nil }
        return
            "the end of this service waits for the database, for 10 s with each thing that is still to be written there. What was "
            + "accepted is there, and another host goes on with it: \(words)"
    }

    /// Lanes that hold something, and whose route the configuration does not have.
    var unserved: [JournalStatus.Lane] {
        let (life, routes) = state.withLock { ($0.life, $0.routes.map(\.settings.name)) }
        do throws(JournalError) {
            return UnservedLane.lanes(of: try life?.journalStatus() ?? JournalStatus(), routes: routes)
        } catch {
            // It is closed, or fails: whoever needs it says so.
            return []
        }
    }

    /// Says what the configuration may take and the process may not have, and which secrets others may read.
    func sayWarnings() {
        let configuration = state.withLock(\.configuration)
        // Too few descriptors are a condition.
        for words in configuration.warnings(within: nil) { logger.warning("\(words)") }
    }

    /// Where the engine's figures go: to the page of the service, and to the host's own.
    var engineMetrics: EngineMetrics { EngineMetrics(registry: registry, host: host.metrics) }
}

extension OpeningWait {
    /// Why no sender is served.
    fileprivate func obstacle(at now: WallTime) -> String {
        "starting, and waiting for \(Format.span(now.since(since))): \(words)"
    }
}
