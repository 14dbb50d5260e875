internal import Holdfast
internal import Logging

/// The process: it starts, is killed, ends in order, and starts again.
extension World {
    private static let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }

    /// A new life knows of a clock that was set by what the journal knows alone: nothing where nothing was ever written, and
    /// nothing where a clock that was set back to what was believed before agrees with it.
    func forgetSetClock() {
        guard let last = journal.wallTimeAtOpen else {
            clockWasSet = nil
            return
        }
        if isBelieved, (Duration.seconds(-1)...Duration.seconds(300)).contains(wall.since(last)) { clockWasSet = nil }
    }

    func open() {
        life += 1
        peers = []
        connects = []
        shutdownDeadline = nil
        shutdownsSeen = [:]
        begun = []
        retiring = [:]
        leaving = nil
        isClockSuspect = journal.wallTimeAtOpen.map { wall < $0 } ?? false
        forgetSetClock()
        owner = SimulatedOwner(owner.times, takenAt: now)
        rules.lastFirst = [:]
        rules.paused = [:]
        readPausedTags()
        rules.withdrawn = []
        rules.handedOut = [:]
        rules.openedAt = now
        rules.duplicates = 0
        rules.loweringHasFailed = false
        rules.hasFailed = false
        rules.suspicions = []
        rules.uniform = [:]
        rules.lead = [:]
        if routes.isEmpty {
            routes = [
                SimulatedConnector(
                    name: SimulatedConnector.answered, confirmationMode: .perNotification,
                    environment: swarm.hasEnvironments ? .production : nil),
                SimulatedConnector(
                    name: SimulatedConnector.cumulative, confirmationMode: .cumulative(quietPeriod: swarm.quietPeriod)),
            ]
            terms = routes.indices.map { index in
                Terms(
                    connections: swarm.connections[index], rate: swarm.rateLimits[index], scaling: swarm.scaling)
            }
        }
        widest = terms.map(\.connections)
        rules.rateSince = [:]
        rules.hasUnseenSteps = false
        (rules.hasLooked, rules.unseenStep, rules.ahead, rules.doubtfulUntil) = (false, .zero, .zero, .zero)
        lastTurns = routes.map { _ in turns }
        readOpening()
        do {
            let clock = EngineClock(wall: { [unowned self] in wall }, monotonic: { [unowned self] in now })
            let life = life
            given = routes.indices.map { engineRoute($0) }
            let core = try EngineCore(
                journal: ObservedJournal(journal, world: self), routes: given, configuration: swarm.engine,
                clock: clock, logger: Self.logger, seed: dice.next(),
                begin: { [unowned self] number in begun.append(number) },
                requestConnection: { [unowned self] in connectionRequested($0, $1, life: life) })
            self.core = core
            consumers = core.routes
            wakes = Array(repeating: now, count: consumers.count)
            for number in consumers { core.start(route: number) }
        } catch {
            violate(9, "the engine did not start: \(error)")
        }
        note("life \(life)")
        reconcile()
    }

    func engineRoute(_ index: Int) -> Route {
        Route(
            name: routes[index].name, connector: routes[index], topics: Set(routes[index].topics),
            connections: terms[index].connections, scaling: terms[index].scaling, rate: terms[index].rate,
            environment: routes[index].environment, triesOtherEnvironment: routes[index].environment != nil)
    }

    /// What the disk says of possibly sent entries.
    private func readOpening() {
        rules.possibleDuplicatesAtOpen = snapshot.totals.possibleDuplicates
        for route in routes { readOpening(of: route.name) }
    }

    /// The same of one route's lanes.
    func readOpening(of route: String) {
        let disk = snapshot
        for (_, lane) in disk.lanes where lane.key.route == route {
            rules.marksAtOpen[lane.key] = lane.mark
            if case .paused = lane.state { rules.paused[lane.key] = turns }
            for (uid, record) in lane.entries.all where InMemoryDisk.isPossiblySent(uid, record, in: lane) {
                ledger[uid]?.isPossiblySentByRule = true
            }
        }
    }

    /// kill -9: everything that is not on disk is gone.
    func crash() {
        note("killed")
        endLife()
        open()
    }

    /// The engine's knowledge ends here, but for what is on disk.
    func endLife() {
        checkLastDoor()
        checkCovered()
        for peer in peers { peer.abandon() }
        core = nil
        do throws(JournalError) { try storage.crash() } catch {
            violate(9, "the journal does not open again: \(error)")
        }
        forgetLife()
    }

    /// All that the engine of this life knew, but for what is on disk.
    func forgetLife() {
        // A commit of which nobody knew what it left can be read now, with what was asked for in mind.
        reconcile()
        for entry in ledger.open { forget(entry) }
        for serial in application.submitted.keys { application.submitted[serial]?.isPending = 0 }
        application.isTaking = false
        stallUntil = .zero
        failUntil = .zero
        reconcile()
    }

    private func forget(_ entry: LedgerEntry) {
        entry.requested = []
        entry.deferralIsAsked = false
        entry.isReadAfresh = false
        guard entry.lastCopy?.life == life else { return }
        for index in entry.copies.indices where entry.copies[index].life == life {
            switch entry.copies[index].word {
            case .outstanding, .taken: entry.copies[index].word = .unknown
            case .rejected, .deferred, .notProcessed, .unknown: break
            }
        }
    }

    func beginShutdown() {
        guard shutdownDeadline == nil, owner.standstill == nil, let core else { return }
        note("shut down")
        shutdownDeadline = now + swarm.engine.shutdownLimit
        core.shutDown()
    }

    /// Whether the process has ended by itself.
    func takeEnds() {
        guard let core else { return }
        var hasFailed = false
        var running = 0
        for (route, number) in consumers.enumerated() {
            switch core.end(of: number) {
            case .failed(let error)?:
                note("route \(route) failed: \(error.code)")
                hasFailed = true
                checkFailure(error)
            case .shutDown?:
                if handOver(route, core) { running += 1 }
            case nil: running += 1
            }
        }
        if hasFailed {
            endLife()
            open()
        } else if running == 0 {
            checkOrderlyEnd()
            endLife()
            open()
        }
    }

    /// The engine gives up for a reason, and says it.
    private func checkFailure(_ error: JournalError) {
        switch error.code {
        case .undetermined, .mustBeReopened: break
        default: violate(9, "the engine has given up: \(error.code): \(error)")
        }
    }

    /// After an orderly end nothing is called possibly sent that is none.
    private func checkOrderlyEnd() {
        note("ended in order")
        guard let shutdownDeadline, now < shutdownDeadline + .seconds(1), failUntil == .zero, !rules.loweringHasFailed
        else { return }
        let disk = snapshot
        checkDuplicates(disk)
        // Lanes whose route is gone wait as they are.
        for (_, lane) in disk.lanes where routes.contains(where: { $0.name == lane.key.route }) {
            let entries = lane.entries.all
            let last = entries.last { uid, record in isPossiblySent(uid, record) }?.uid ?? .none
            for (uid, record) in entries where uid <= lane.mark && uid > last && !record.isPossiblySent {
                violate(3, "after an orderly end entry \(uid) counts as possibly sent (mark \(lane.mark)), and is not")
            }
        }
    }

    private func isPossiblySent(_ uid: UID, _ record: InMemoryDisk.Record) -> Bool {
        guard let entry = ledger[uid] else { return false }
        return entry.mayHaveBeenTaken(life: life) || entry.isPossiblySentByRule || record.isPossiblySent
    }

    /// Each hand-out that may have been a second copy is counted, and none other.
    func checkDuplicates(_ disk: InMemoryDisk) {
        let counted = disk.totals.possibleDuplicates - rules.possibleDuplicatesAtOpen
        if Int(counted) != rules.duplicates {
            violate(3, "\(rules.duplicates) hand-outs were possible duplicates, and \(counted) were counted")
        }
    }

    func promoted(_ result: Result<[UID], JournalError>) {
        guard case .success(let uids) = result else { return }
        note("promoted \(uids.map(\.rawValue))")
    }

    private func connectionRequested(_ consumer: Int, _ connection: Int, life: Int) {
        guard life == self.life, let route = consumers.firstIndex(of: consumer) else { return }
        activity += 1
        note("route \(route) asks for connection \(connection)")
        if connects.contains(where: { $0.consumer == consumer }) {
            violate(0, "route \(route) asks for connection \(connection) while another one is being made")
        }
        let wait: Duration =
            strikes(.connectSlow, times: 3)
            ? dice.duration(milliseconds: 1...60_000) : dice.duration(milliseconds: 0...50)
        connects.append(
            PendingConnect(route: route, consumer: consumer, connection: connection, dueAt: now + wait))
    }

    func stepConnects() {
        guard let index = connects.firstIndex(where: { $0.dueAt <= now }), let core else { return }
        let pending = connects.remove(at: index)
        // Nobody wants it any more: it would be closed at once.
        guard consumers.indices.contains(pending.route), consumers[pending.route] == pending.consumer else { return }
        if strikes(.connectFails, times: 3) {
            return core.connected(
                route: pending.consumer, connection: pending.connection,
                .failure(ConnectError(dice.chance(0.8) ? .temporary : .configuration, "nobody listens")))
        }
        if routes[pending.route].confirmationMode == .perNotification {
            let peer = AnsweredPeer(world: self, route: pending.route, number: pending.connection)
            peers.append(peer)
            if strikes(.diesEarly) { peer.end(knowing: true, cause: "reset at once") }
            core.connected(route: pending.consumer, connection: pending.connection, .success(peer))
        } else {
            let peer = CumulativePeer(world: self, route: pending.route, number: pending.connection)
            peers.append(peer)
            core.connected(route: pending.consumer, connection: pending.connection, .success(peer))
        }
        note("route \(pending.route) connection \(pending.connection) is made")
    }
}
