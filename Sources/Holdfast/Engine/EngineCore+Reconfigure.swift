/// Other routes while the engine runs.
extension EngineCore {
    /// Exchanges routes and bounds. Blocks until new lanes are on disk; one caller at a time.
    ///
    /// From here on submissions go by the new table. A Consumer whose route goes by another connector, or is gone, ends in
    /// order: until then nobody reads its lanes, and what is appended to them waits. Whoever steps Consumers says so with
    /// ``ended(route:)``, and steps those that `begin` names.
    ///
    /// - Parameter completion: when all who leave have left; from any thread. Fails with what this finds wrong, before
    ///   anything has changed, or with ``JournalError`` when the engine has ended meanwhile.
    package func reconfigure(
        routes: [Route], configuration: EngineConfiguration,
        completion: @escaping @Sendable (Result<Reconfiguration, any Error>) -> Void
    ) {
        let configuration = configuration.keepingWhatIsForLife(of: producer.configuration)
        let table: RouteTable
        do {
            if roster.withLock(\.isEnding) { throw JournalError.engineHasEnded }
            table = try RouteTable(routes, journal: journal)
        } catch {
            return completion(.failure(error))
        }
        let present = consumers
        let newcomers = table.entries.filter { entry in !present.contains { $0.name == entry.route.name } }
            .map { makeSeat($0.route, .opened($0.lanes), configuration) }
        do throws(JournalError) {
            try lookAgain(newcomers)
            try seat(newcomers, routes: routes, completion)
        } catch {
            for seat in newcomers { audience.remove(seat.number) }
            return completion(.failure(error))
        }
        producers.shared.withLock { $0.terms = ProducerTable.Terms(routes: table, configuration: configuration) }
        surroundings.gate.change(limit: configuration.outcomeLimit)
        for seat in newcomers {
            board.add(route: seat.consumer.name)
            seat.begin()
            begin(seat.number)
        }
        for consumer in present { tell(consumer, routes: routes, configuration: configuration) }
        finishChange()
    }

    /// What was appended, by an operator say, between the opening of a lane and the first commit that its Consumer heard of.
    private func lookAgain(_ seats: [Roster.Seat]) throws(JournalError) {
        let lanes = seats.flatMap { seat in seat.lanes.keys.map { (seat, $0) } }
        guard !lanes.isEmpty else { return }
        for ((seat, _), opening) in zip(lanes, try journal.openLanes(lanes.map(\.1))) {
            seat.consumer.post { inbox in
                let known = inbox.commits[opening.id]
                if known.map({ $0.lastUID < opening.lastUID }) ?? true {
                    inbox.commits[opening.id] = CommitReport.Lane(
                        id: opening.id, lastUID: opening.lastUID, mark: known?.mark ?? opening.markAtOpen)
                }
            }
        }
    }

    /// Decides what becomes of each Consumer. The change begins, unless the engine ends.
    private func seat(
        _ newcomers: [Roster.Seat], routes: [Route],
        _ completion: @escaping @Sendable (Result<Reconfiguration, any Error>) -> Void
    ) throws(JournalError) {
        try roster.withLock { (roster) throws(JournalError) in
            guard !roster.isEnding else { throw JournalError.engineHasEnded }
            precondition(roster.change == nil, "one reconfiguration at a time")
            var report = Reconfiguration()
            var leaving: [Int: Roster.Departure] = [:]
            for index in roster.seats.indices {
                let old = roster.seats[index].route
                guard let new = routes.first(where: { $0.name == old.name }) else {
                    report.removed.append(old.name)
                    leaving[roster.seats[index].number] = .removed
                    continue
                }
                roster.seats[index].route = new
                if !new.delivers(as: old) {
                    report.replaced.append(old.name)
                    leaving[roster.seats[index].number] = .replaced(new)
                } else if new.hasSameTerms(as: old), new.topics == old.topics {
                    report.unchanged.append(old.name)
                } else {
                    report.changed.append(old.name)
                }
            }
            report.added = newcomers.map(\.consumer.name)
            let places = Dictionary(uniqueKeysWithValues: routes.enumerated().map { ($1.name, $0) })
            roster.seats = (roster.seats + newcomers).enumerated()
                .sorted { first, second in
                    let left = (places[first.element.consumer.name] ?? .max, first.offset)
                    return left < (places[second.element.consumer.name] ?? .max, second.offset)
                }
                .map(\.element)
            roster.change = Roster.Change(leaving: leaving, report: report, completion: completion)
        }
    }

    /// What the change means for a Consumer that was there before.
    private func tell(_ consumer: Consumer, routes: [Route], configuration: EngineConfiguration) {
        if let departure = roster.withLock({ $0.change?.leaving[consumer.index] }) {
            consumer.post { $0.retirementAsked = departure.successor == nil ? .removed : .replaced }
        } else if let route = routes.first(where: { $0.name == consumer.name }) {
            consumer.post { $0.terms = ConsumerInbox.Terms(route: route, configuration: configuration) }
        }
    }

    /// The Consumer has ended, and is stepped no more. Whoever takes its lanes over begins.
    package func ended(route number: Int) {
        guard
            let (old, departure) = roster.withLock({ roster -> (Consumer, Roster.Departure)? in
                guard !roster.isEnding, let old = roster.consumer(number), case .shutDown? = old.end,
                    let departure = roster.change?.leaving[number]
                else { return nil }
                return (old, departure)
            })
        else { return }
        let seat = departure.successor.map { makeSeat($0, .takenOver(old), producer.configuration) }
        let isSeated = roster.withLock { roster in
            guard !roster.isEnding, let place = roster.seats.firstIndex(where: { $0.number == number }) else {
                return false
            }
            roster.seats.replaceSubrange(place...place, with: seat.map { [$0] } ?? [])
            roster.change?.leaving[number] = nil
            return true
        }
        guard isSeated else {
            if let seat { audience.remove(seat.number) }
            return
        }
        leave(old, to: seat?.consumer)
        if let seat {
            board.add(route: old.name)
            seat.begin()
            begin(seat.number)
        } else {
            board.remove(route: old.name)
        }
        finishChange()
    }

    /// What a Consumer that has ended leaves behind.
    private func leave(_ old: Consumer, to successor: Consumer?) {
        audience.remove(old.index)
        if let successor {
            old.handOver(to: successor)
        } else {
            old.closeUnclaimed()
            old.refuseOperators()
        }
        observer.forget(route: old.index)
        for denied in surroundings.gate.forget(route: old.index) { surroundings.wakeRoute(denied) }
        let next = roster.withLock { roster -> Consumer? in
            guard roster.inCharge == old.index, let first = roster.seats.first else { return nil }
            roster.inCharge = first.number
            return first.consumer
        }
        next?.post { [reports = old.reports.reports] in $0.takesCharge = reports }
    }

    /// Tells whoever waits, once there is nobody to wait for.
    private func finishChange() {
        let change = roster.withLock { roster -> Roster.Change? in
            guard let change = roster.change, change.leaving.isEmpty else { return nil }
            roster.change = nil
            return change
        }
        guard let change else { return }
        observer.log(.reconfigured, "the routes are others: \(change.report)", change.report.metadata)
        change.completion(.success(change.report))
    }
}
