internal import Holdfast

/// One of the connectors is replaced by another one while the engine runs.
extension World {
    func replaceConnector() {
        guard let core, retiring.isEmpty, shutdownDeadline == nil else { return }
        let index = dice.number(0...routes.count - 1)
        let number = consumers[index]
        let before = (routes[index], given[index])
        routes[index] = SimulatedConnector(
            name: routes[index].name, confirmationMode: routes[index].confirmationMode, isOther: routes[index].isOther,
            environment: routes[index].environment)
        given[index] = engineRoute(index)
        retiring[number] = .some(nil)
        note("route \(index) gets another connector")
        core.reconfigure(routes: given, configuration: swarm.engine) { [weak self, life] result in
            guard let self, life == self.life else { return }
            self.note("another connector: \(result)")
            self.retiring = [:]
            // Everything is as it was.
            if case .failure = result, consumers[index] == number { (routes[index], given[index]) = before }
        }
        lookAfterOpening()
    }

    /// A reconfiguration opens lanes, which lets others' commits happen.
    func lookAfterOpening() {
        storage.changed()
        reconcile()
    }

    /// A Consumer that is to end has ended.
    ///
    /// - Returns: whether another one goes on.
    func handOver(_ route: Int, _ core: EngineCore) -> Bool {
        let number = consumers[route]
        guard retiring[number] != nil, shutdownDeadline == nil else { return false }
        for entry in ledger.open where entry.lane.route == routes[route].name && entry.isInFlight(life: life) {
            violate(3, "route \(route) is handed over, and entry \(entry.uid) is in flight")
        }
        let isLeaving = leaving == number
        core.ended(route: number)
        guard !isLeaving else {
            routeHasGone()
            return false
        }
        guard let successor = begun.popLast() else {
            violate(9, "route \(route) has ended, and nobody goes on")
            return false
        }
        consumers[route] = successor
        core.start(route: successor)
        wakes[route] = now
        peers.removeAll { $0.consumer == number && $0.isOver }
        note("route \(route) is Consumer \(successor)'s")
        return true
    }

    /// Connections that have not ended within the limit, although they were told to, are given up by the engine in this turn.
    func abandonOverdue(of number: Int) {
        guard let known = retiring[number] else { return }
        guard let since = known else {
            retiring[number] = now
            return
        }
        guard now >= since + swarm.engine.shutdownLimit + .seconds(1) else { return }
        for peer in peers where peer.consumer == number && peer.life == life && !peer.isOver {
            note("connection \(peer.number) is given up")
            peer.abandon()
            for entry in ledger.open where entry.lane.route == routes[peer.route].name {
                for index in entry.copies.indices
                where entry.copies[index].life == life && entry.copies[index].connection == peer.number
                    && entry.copies[index].word == .outstanding
                {
                    entry.copies[index].word = .unknown
                    entry.copies[index].toldBeforeTurn = turns
                    entry.copies[index].wasLeft = !entry.hasOneAttempt
                }
            }
        }
    }
}
