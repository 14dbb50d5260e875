/// Exchanging routes while the engine runs.
extension EngineCore {
    /// Exchanges routes and configuration. Blocks until new lanes are durable; one caller at a time.
    ///
    /// From here on submissions use the new routes. A Consumer whose route has another connector, or is gone, ends in an
    /// orderly way; until then its successor does not read its lanes, and new entries wait. The caller that runs Consumers
    /// reports an ended one with ``ended(route:)``, and runs those that `begin` names.
    ///
    /// - Parameter completion: called when all ending Consumers have ended; from any thread. Gets an error if the routes are
    ///   wrong, before anything has changed, or ``JournalError`` if the engine has ended meanwhile.
    package func reconfigure(
        routes: [Route], configuration: EngineConfiguration,
        completion: @escaping @Sendable (Result<Reconfiguration, any Error>) -> Void
    ) {
        let configuration = configuration.keepingWhatIsForLife(of: producer.configuration)
        let table: RouteTable
        do {
            if registry.withLock(\.isEnding) { throw JournalError.engineHasEnded }
            table = try RouteTable(routes, journal: journal, defaultEnvironment: configuration.defaultEnvironment)
            try OutcomeKeeping.note(configuration.logsOutcomes, in: journal)
        } catch {
            return completion(.failure(error))
        }
        let present = consumers
        let newcomers = table.entries.filter { entry in !present.contains { $0.name == entry.route.name } }
            .map { makeRegistration($0.route, .opened($0.lanes), configuration) }
        do throws(JournalError) {
            try lookAgain(newcomers)
            try admit(newcomers, routes: routes, completion)
        } catch {
            for registration in newcomers { directory.remove(registration.number) }
            return completion(.failure(error))
        }
        producers.shared.withLock { $0.terms = ProducerTable.Terms(routes: table, configuration: configuration) }
        surroundings.gate.change(limit: configuration.outcomeLimit)
        // Who waits for outcomes may learn that none come any more.
        outcomes.wake()
        for registration in newcomers {
            board.add(route: registration.consumer.name)
            registration.begin()
            begin(registration.number)
        }
        for consumer in present { tell(consumer, routes: routes, configuration: configuration) }
        finishChange()
    }

    /// Reads the lanes again, for entries appended between the opening of a lane and the first commit that its Consumer was
    /// told of.
    private func lookAgain(_ registrations: [ConsumerRegistry.Registration]) throws(JournalError) {
        let lanes = registrations.flatMap { registration in registration.lanes.keys.map { (registration, $0) } }
        guard !lanes.isEmpty else { return }
        for ((registration, _), opening) in zip(lanes, try journal.openLanes(lanes.map(\.1))) {
            registration.consumer.post { inbox in
                let known = inbox.commits[opening.id]
                if known.map({ $0.lastUID < opening.lastUID }) ?? true {
                    inbox.commits[opening.id] = CommitReport.Lane(
                        id: opening.id, lastUID: opening.lastUID, mark: known?.mark ?? opening.markAtOpen)
                }
            }
        }
    }

    /// Decides which Consumers stay, end or begin. The change begins, unless the engine ends.
    private func admit(
        _ newcomers: [ConsumerRegistry.Registration], routes: [Route],
        _ completion: @escaping @Sendable (Result<Reconfiguration, any Error>) -> Void
    ) throws(JournalError) {
        try registry.withLock { (registry) throws(JournalError) in
            guard !registry.isEnding else { throw JournalError.engineHasEnded }
            precondition(registry.change == nil, "one reconfiguration at a time")
            var report = Reconfiguration()
            var leaving: [Int: ConsumerRegistry.Departure] = [:]
            for index in registry.registrations.indices {
                let old = registry.registrations[index].route
                guard let new = routes.first(where: { $0.name == old.name }) else {
                    report.removed.append(old.name)
                    leaving[registry.registrations[index].number] = .removed
                    continue
                }
                registry.registrations[index].route = new
                if !new.delivers(as: old) {
                    report.replaced.append(old.name)
                    leaving[registry.registrations[index].number] = .replaced(new)
                } else if new.hasSameTerms(as: old), new.servesAs(old) {
                    report.unchanged.append(old.name)
                } else {
                    report.changed.append(old.name)
                }
            }
            report.added = newcomers.map(\.consumer.name)
            let places = Dictionary(uniqueKeysWithValues: routes.enumerated().map { ($1.name, $0) })
            registry.registrations = (registry.registrations + newcomers).enumerated()
                .sorted { first, second in
                    let left = (places[first.element.consumer.name] ?? .max, first.offset)
                    return left < (places[second.element.consumer.name] ?? .max, second.offset)
                }
                .map(\.element)
            registry.change = ConsumerRegistry.Change(leaving: leaving, report: report, completion: completion)
        }
    }

    /// Passes the change to a Consumer that existed before.
    private func tell(_ consumer: Consumer, routes: [Route], configuration: EngineConfiguration) {
        if let departure = registry.withLock({ $0.change?.leaving[consumer.index] }) {
            consumer.post { $0.retirementAsked = departure.successor == nil ? .removed : .replaced }
        } else if let route = routes.first(where: { $0.name == consumer.name }) {
            consumer.post { $0.terms = ConsumerInbox.Terms(route: route, configuration: configuration) }
        }
    }

    /// Reports that a Consumer has ended and runs no more. The successor of its lanes begins.
    package func ended(route number: Int) {
        guard
            let (old, departure) = registry.withLock({ registry -> (Consumer, ConsumerRegistry.Departure)? in
                guard !registry.isEnding, let old = registry.consumer(number), case .shutDown? = old.end,
                    let departure = registry.change?.leaving[number]
                else { return nil }
                return (old, departure)
            })
        else { return }
        let registration = departure.successor.map { makeRegistration($0, .takenOver(old), producer.configuration) }
        let isRegistered = registry.withLock { registry in
            guard !registry.isEnding, let place = registry.registrations.firstIndex(where: { $0.number == number })
            else {
                return false
            }
            registry.registrations.replaceSubrange(place...place, with: registration.map { [$0] } ?? [])
            registry.change?.leaving[number] = nil
            return true
        }
        guard isRegistered else {
            if let registration { directory.remove(registration.number) }
            return
        }
        leave(old, to: registration?.consumer)
        if let registration {
            board.add(route: old.name)
            observer.conditions.forget(route: old.name)
            registration.begin()
            begin(registration.number)
        } else {
            board.remove(route: old.name)
            observer.conditions.forget(route: old.name)
        }
        finishChange()
    }

    /// Passes the inbox of a Consumer that has ended to its successor.
    private func leave(_ old: Consumer, to successor: Consumer?) {
        directory.remove(old.index)
        if let successor {
            old.handOver(to: successor)
        } else {
            old.closeUnclaimed()
            old.refuseOperators()
        }
        observer.forget(route: old.index)
        for denied in surroundings.gate.forget(route: old.index) { surroundings.wakeRoute(denied) }
        let next = registry.withLock { registry -> Consumer? in
            guard registry.inCharge == old.index, let first = registry.registrations.first else { return nil }
            registry.inCharge = first.number
            return first.consumer
        }
        next?.post { [reports = old.reports.reports] in $0.takesCharge = reports }
    }

    /// Completes the change when no Consumer is left to wait for.
    private func finishChange() {
        let change = registry.withLock { registry -> ConsumerRegistry.Change? in
            guard let change = registry.change, change.leaving.isEmpty else { return nil }
            registry.change = nil
            return change
        }
        guard let change else { return }
        observer.log(.reconfigured, "the routes are others: \(change.report)", change.report.metadata)
        change.completion(.success(change.report))
    }
}
