internal import Holdfast
internal import HoldfastGateway
internal import Logging

/// Another configuration while it runs.
extension ServiceRun {
    /// Reads the configuration again and takes it up, all of it or nothing; says what is wrong, or waits for a restart.
    func reload() async {
        await manager?.tell(.reloading)
        do {
            try await takeUp(try sources.load())
        } catch {
            state.withLock { $0.failedReloads += 1 }
            logger.error("the configuration was read again and is not taken up; everything stays as it was: \(error)")
        }
        await manager?.tell(.ready(status))
    }

    private func takeUp(_ new: Configuration) async throws {
        let (old, oldRoutes, life, addresses) = state.withLock { state in
            (state.configuration, state.routes, state.life, state.addresses)
        }
        let reload = try ServiceReload(from: old, oldRoutes, to: new)
        var changes: Reconfiguration?
        if let life {
            // What may yet fail comes first; what it has changed by then is what files say, which is taken up anyway.
            for route in reload.kept { try await route.reloadCredentials() }
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
        }
        log.leastLevel = new.log.level ?? .info
        let isStale = state.withLock { state in
            state.configuration = reload.configuration
            state.routes = reload.routes
            state.reloads += 1
            return state.life !== life
        }
        // Another life has begun meanwhile, with what was before.
        if isStale { askForReload.yield() }
        logger.notice(
            "the configuration was read again and is taken up; routes: \(changes?.description ?? "as it says")")
        sayUnserved()
        sayWarnings()
        if !reload.needsRestart.isEmpty {
            logger.warning("waits for a restart, and is as it was: \(reload.needsRestart.joined(separator: ", "))")
        }
    }
}
