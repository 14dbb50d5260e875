internal import Holdfast

/// Routes come, go and get other terms while the engine runs. The first two are always there; a third one is not.
extension World {
    /// What a route is allowed.
    struct Terms {
        var connections: Int
        var rate: RateLimit?
        var scaling: ConnectionScaling
    }

    func troubleRoutes() {
        guard core != nil, retiring.isEmpty, shutdownDeadline == nil else { return }
        if routes.count == 2, strikes(.addsRoute, times: 0.5) { addRoute() }
        if routes.count == 2, swarm.hasEnvironments, otherDice.chance(0.05) { addRoute() }
        if routes.count == 3, retiring.isEmpty, strikes(.removesRoute, times: 0.5) { removeRoute() }
        if retiring.isEmpty, strikes(.changesTerms, times: 0.3) { changeTerms() }
    }

    /// Whether everything that the third route has left in the journal waits for it.
    var lacksRoute: Bool {
        routes.count == 2 && shutdownDeadline == nil && retiring.isEmpty
            && ledger.open.contains { $0.lane.route == SimulatedConnector.extra }
    }

    func addRoute() {
        guard let core else { return }
        let index = routes.count
        routes.append(
            SimulatedConnector(
                name: SimulatedConnector.extra, confirmationMode: .perNotification, isOther: swarm.hasOtherService,
                environment: swarm.hasEnvironments ? .sandbox : nil))
        if swarm.hasOtherService { happened(.otherService) }
        terms.append(Terms(connections: dice.pick([1, 2]), rate: nil, scaling: swarm.scaling))
        given.append(engineRoute(index))
        note("route \(index) comes")
        core.reconfigure(routes: given, configuration: swarm.engine) { [weak self, life] result in
            guard let self, life == self.life else { return }
            self.note("added: \(result)")
        }
        lookAfterOpening()
        guard let number = begun.popLast() else {
            routes.removeLast()
            terms.removeLast()
            given.removeLast()
            return
        }
        routesAdded += 1
        consumers.append(number)
        wakes.append(now)
        lastTurns.append(turns)
        widest = Array(widest.prefix(index)) + [terms[index].connections]
        rules.handedOut[index] = 0
        rules.rateSince[index] = now
        rules.lastFirst = rules.lastFirst.filter { $0.key.lane.route != SimulatedConnector.extra }
        for entry in ledger.open where entry.lane.route == SimulatedConnector.extra { entry.isReadAfresh = true }
        readOpening(of: SimulatedConnector.extra)
        core.start(route: number)
    }

    private func removeRoute() {
        guard let core else { return }
        retiring[consumers[2]] = .some(nil)
        leaving = consumers[2]
        note("route 2 goes")
        core.reconfigure(routes: Array(given.prefix(2)), configuration: swarm.engine) { [weak self, life] result in
            guard let self, life == self.life else { return }
            self.note("removed: \(result)")
            self.retiring = [:]
            if case .failure = result { self.leaving = nil }
        }
        lookAfterOpening()
    }

    /// The third route's Consumer has ended, and has no successor.
    func routeHasGone() {
        for key in laneKeys where key.route == SimulatedConnector.extra { rules.paused[key] = nil }
        let number = consumers.removeLast()
        leaving = nil
        peers.removeAll { $0.consumer == number }
        routes.removeLast()
        terms.removeLast()
        given.removeLast()
        wakes.removeLast()
        lastTurns.removeLast()
        shutdownsSeen[2] = nil
        note("route 2 has gone")
    }

    private func changeTerms() {
        guard let core else { return }
        let index = dice.number(0...routes.count - 1)
        let (old, before) = (terms[index], given[index])
        terms[index].connections = dice.pick([1, 1, 2, 4])
        terms[index].scaling.growAbove = dice.pick([0, 3, 20])
        if dice.chance(0.5) {
            terms[index].rate =
                dice.chance(0.5)
                ? RateLimit(perSecond: dice.pick([20, 200, 5000]), burst: dice.pick([1, 5, 100])) : nil
        }
        if terms[index].rate != old.rate {
            rules.handedOut[index] = 0
            rules.rateSince[index] = now
        }
        widest[index] = max(widest[index], terms[index].connections)
        given[index] = given[index].with(
            topics: given[index].topics, connections: terms[index].connections, scaling: terms[index].scaling,
            rate: terms[index].rate, environment: routes[index].environment,
            triesOtherEnvironment: routes[index].environment != nil)
        note("route \(index) has other terms: \(terms[index].connections) connections")
        core.reconfigure(routes: given, configuration: swarm.engine) { [weak self, life] result in
            guard let self, life == self.life else { return }
            self.note("other terms: \(result)")
            if case .failure = result { (terms[index], given[index]) = (old, before) }
        }
        lookAfterOpening()
    }
}
