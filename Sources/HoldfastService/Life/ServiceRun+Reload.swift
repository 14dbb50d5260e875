internal import Holdfast
internal import HoldfastGateway
internal import HoldfastJournal
internal import Logging

/// Another configuration while it runs.
extension ServiceRun {
    /// Reads the configuration again and takes it up, all of it or nothing; logs what is wrong, or waits for a restart.
    package func reload() async {
        // The mistakes were logged, and nothing changes.
        let load = sources.load ?? { self.state.withLock(\.configuration) }
        do { _ = try await reload(from: load) } catch {}
    }

    /// Takes up the configuration that `load` gives, all of it or nothing, after those that were asked for before.
    ///
    /// Mistakes are also logged.
    ///
    /// - Returns: what was changed and waits for a restart.
    /// - Throws: what `load` throws; ``ConfigError``, ``UnusableRoute``, `RouteError` or `GatewayError`. Then everything is
    ///   as it was.
    package func reload(from load: @escaping @Sendable () throws -> HoldfastConfiguration) async throws -> [String] {
        let reload = state.withLock { state in
            let before = state.reload
            // Not a child of the caller's task, which may be cancelled in the middle of it.
            let reload = Task {
                _ = await before?.result
                return try await self.perform(load)
            }
            state.reload = reload
            return reload
        }
        return try await reload.value
    }

    private func perform(_ load: () throws -> HoldfastConfiguration) async throws -> [String] {
        await host.tell(.reloading)
        do {
            let new = try load()
            // All of it is read, so that nothing is taken up by halves.
            let problems = ServicePlan.problems(of: new)
            guard problems.isEmpty else { throw ConfigError(problems) }
            let needsRestart = try await takeUp(new)
            await host.tell(.ready(status))
            return needsRestart
        } catch {
            state.withLock { $0.failedReloads += 1 }
            if state.withLock(\.isEnding) {
                logger.notice("the configuration was read again and is not taken up, because the service is ending")
            } else {
                let now = EngineClock.system.wall()
                let refusal = state.withLock { state in
                    let refusal = (words: "\(error)", since: state.refusedReload?.since ?? now)
                    state.refusedReload = refusal
                    return refusal
                }
                if let condition = ServiceFindings(refusedReload: refusal).refused { logger.tell(condition) }
                _ = conditions
            }
            await host.tell(.ready(status))
            throw error
        }
    }

    private func takeUp(_ new: HoldfastConfiguration) async throws -> [String] {
        let (old, oldRoutes, life, addresses) = state.withLock { state in
            (state.configuration, state.routes, state.life, state.addresses)
        }
        let reload = try ServiceReload(from: old, oldRoutes, to: new)
        // Another file waits for a restart; this one may hold another token.
        do throws(OperatorToken.Fault) { try state.withLock(\.operatorToken)?.reload() } catch {
            throw GatewayError(.configuration, error.message)
        }
        // Another file waits for a restart; this one may have a new key.
        let keys = try old.journal.keys()
        var changes: Reconfiguration?
        if let life {
            if let keys { try life.useKeys(keys) }
            // The steps that may fail come first. By then they have changed only what files say, which is taken up anyway.
            for route in reload.kept { try await route.reloadCredentials() }
            try await life.open(reload.routes)
            changes = try await life.engine.reconfigure(
                routes: reload.routes.map(\.route), configuration: reload.configuration.engine)
            do {
                try life.gateway.reload(reload.configuration.gatewayConfiguration(at: addresses))
            } catch {
                // Its files were read a moment ago. All or nothing, all the same.
                try await life.engine.reconfigure(routes: oldRoutes.map(\.route), configuration: old.engine)
                throw error
            }
            life.readFeedback(of: reload.routes)
            life.tell(reload.webhooks)
            life.follow(new.log.follow)
            life.fleet?.renew()
        }
        host.setLevel(new.log.level ?? .info)
        host.setFormat(new.log.format)
        let (isStale, refused) = state.withLock { state in
            let refused = state.refusedReload
            state.configuration = reload.configuration
            state.routes = reload.routes
            state.webhooks = reload.webhooks
            state.reloads += 1
            state.refusedReload = nil
            return (state.life !== life, refused)
        }
        if let condition = ServiceFindings(refusedReload: refused).refused {
            logger.tellEnd(of: condition, at: EngineClock.system.wall())
        }
        // Another life has begun meanwhile, with what was before.
        if isStale { askForReload() }
        logger.notice(
            "the configuration was read again and is taken up; routes: \(changes?.description ?? "as it says")")
        _ = conditions
        sayWarnings()
        if !reload.needsRestart.isEmpty {
            logger.warning("waits for a restart, and is as it was: \(reload.needsRestart.joined(separator: ", "))")
        }
        return reload.needsRestart
    }
}
