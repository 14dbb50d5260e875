internal import Holdfast
internal import HoldfastGateway
internal import HoldfastPQ
internal import HoldfastPostgres
internal import HoldfastWebhooks
internal import Logging
internal import ServiceLifecycle

/// Takes over the journals of hosts that are gone, and delivers what they have left.
final class FleetKeeper: Service, Sendable {
    /// What a journal that was taken is delivered with, read for each anew.
    typealias Means = @Sendable () throws -> (HoldfastConfiguration, [ReadyRoute], [WebhookConfiguration])

    private struct State {
        var lives: [Int32: TakenJournal] = [:]
        var openings: [Int32: TakeoverOpening] = [:]
        var watch: FleetWatch?
        var isEnding = false
    }

    private let place: FleetPlace
    private let host: ServiceHost
    private let logger: Logger
    private let metrics: EngineMetrics
    private let means: Means
    private let log: FleetLog
    private let state = Monitor(State())
    private let lasting = Monitor(LastingTroubles())
    /// The submissions and outcomes by SQL of this host's own journal; nil before it serves.
    private let bySQL = Monitor<(submissions: SubmissionsBySQL, outcomes: OutcomesBySQL)?>(nil)
    /// The fleet for the operators' page.
    let look: FleetLook
    private let gaze: FleetGaze
    /// This machine's wall clock beside the database's.
    private let wallClock: @Sendable () -> FleetClock
    /// Whether this host takes what others could send.
    let restraint: FleetRestraint

    /// - Parameter engine: on this host's own journal.
    init(
        _ place: FleetPlace, _ engine: PushEngine, host: ServiceHost, metrics: EngineMetrics, means: @escaping Means
    ) {
        self.metrics = metrics
        self.place = place
        self.host = host
        self.means = means
        logger = host.logger("holdfast.fleet")
        log = FleetLog(logger, place.record)
        let gaze = FleetGaze(place.terms.clock, place.rates)
        self.gaze = gaze
        let wallClock: @Sendable () -> FleetClock = { [state] in
            FleetClock(offset: state.withLock { $0.watch }?.clockOffset)
        }
        self.wallClock = wallClock
        restraint = FleetRestraint(
            place.terms.clock, place.rates, isFull: { [own = place.own] in own.wantOfRoom != nil },
            areOthersFull: { [state, rates = place.rates] in
                let others = rates.presentJournals
                let full = state.withLock { $0.watch }?.full ?? []
                return !others.isEmpty && others.isSubset(of: full)
            },
            wallClock: wallClock,
            engines: { [state] in [engine] + state.withLock { $0.lives.values.map(\.engine) } })
        look = FleetLook(FleetRegister(place.terms), own: place.own.id) { [state] in
            gaze.sightings(trouble: state.withLock { $0.watch }?.trouble)
        }
    }

    /// Watches over what goes by SQL of this host's own journal, too.
    func watch(_ submissions: SubmissionsBySQL, _ outcomes: OutcomesBySQL) {
        bySQL.withLock { $0 = (submissions, outcomes) }
    }

    /// The journals that were taken over and are delivered now.
    var taken: [TakenJournal] { state.withLock { $0.lives.values.sorted { $0.owned.id < $1.owned.id } } }

    /// All journals of the fleet, as of the last look.
    var journals: [ListedJournal] { state.withLock { $0.watch?.journals ?? [] } }

    /// What operators should know all the time of the database, and what is in the way now, one line each.
    var warnings: [String] { place.losses + troubles.map(\.words) }

    /// What is in the way.
    var troubles: [FleetTrouble] {
        let watch = state.withLock { $0.watch }?.trouble.map { FleetTrouble(.watching, $0) }
        let own = bySQL.withLock { FleetTrouble.of(place.own, $0?.submissions, $0?.outcomes) }
        return place.shared.troubles + own + taken.flatMap(\.troubles)
            + [watch, wantOfRoom].compactMap(\.self) + unopened
    }

    /// That a journal of a lost host has no room here.
    private var wantOfRoom: FleetTrouble? {
        state.withLock { $0.watch }?.wantOfRoom.map { FleetTrouble($0, in: place.directory.path) }
    }

    /// The journals of lost hosts that this one can't open, each once: what is in the way of a try now, or else of the last one.
    private var unopened: [FleetTrouble] {
        let (watch, openings) = state.withLock { ($0.watch, Array($0.openings.values)) }
        let now = place.terms.clock.wall()
        let tried = openings.compactMap(\.trouble)
        let journals = Set(tried.map(\.journal))
        let refused = (watch?.refusals ?? []).map { refusal, pause in
            FleetTrouble(refusal, nextTryAt: pause > .zero ? now.advanced(by: pause) : nil)
        }
        return tried + refused.filter { !journals.contains($0.journal) }
    }

    /// The conditions of this host in its fleet: faults of the database's servers, troubles that last, whether it leaves work to
    /// other hosts, and a clock that differs from the database's.
    func conditions(now: WallTime) -> [HealthCondition] {
        let found = troubles
        let moment = Moment(monotonic: place.terms.clock.monotonic(), wall: now)
        return place.serverConditions(now: now) + lasting.withLock { $0.look(found, at: moment) }
            + [restraint.condition(now: now), wallClock().condition(now: now)].compactMap(\.self)
    }

    func run() async throws {
        let journals = place.journals { [log] in log.tell($0) }
        let watch = try FleetWatch(
            journals, mine: place.own.id, onLook: { [gaze] in gaze.looked($0, mine: $1) },
            // What it asks has the keeper's state, and that has the watch.
            delay: { [weak restraint] in restraint?.delay ?? .zero },
            fullness: { [own = place.own, rates = place.rates] in (own.wantOfRoom != nil, rates.presentJournals) })
        state.withLock { $0.watch = watch }
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { tasks in
                for await taken in watch.taken { tasks.addTask { await self.deliver(taken, watch) } }
            }
        } onCancelOrGracefulShutdown: {
            self.end(watch)
        }
    }

    /// Gives back what was taken, to take it again with what is configured now.
    func renew() {
        state.withLock { $0.watch }?.tryRefused()
        for life in taken { Task { await life.end() } }
    }

    private func end(_ watch: FleetWatch) {
        // Before anything is given back, or this host would take it again.
        watch.stop()
        let (lives, openings) = state.withLock { state in
            state.isEnding = true
            return (Array(state.lives.values), Array(state.openings.values))
        }
        for opening in openings { opening.stop.stop() }
        for life in lives { Task { await life.end() } }
    }

    private func deliver(_ taken: FleetWatch.Taken, _ watch: FleetWatch) async {
        let (id, name) = (taken.journal.id, taken.journal.name)
        let former = taken.journal.host.map { " of host \($0)" } ?? ""
        // One that could not be opened is tried again and again, and told as a trouble meanwhile.
        let wasRefused = watch.isRefused(id)
        if !wasRefused { logger.notice("journal \(name)\(former) has no owner any more, and is taken over") }
        var lacksRoom = false
        do {
            let (owned, orders) = try await open(taken)
            let isDrained = try await run(owned, JournalOrders(owned.journal, orders)) {
                watch.opened(id)
                if wasRefused { logger.notice("journal \(name)\(former) can be opened now, and is taken over") }
            }
            logger.notice(
                "journal \(name)\(former) is \(isDrained ? "delivered, and closed" : "given back, for others to go on with")"
            )
        } catch {
            lacksRoom = (error as? JournalError)?.code == .diskFull
            let refusal = refusal(error, of: taken.journal)
            let isNews = refusal.map { watch.refused(taken.journal, $0) } ?? true
            if isNews {
                logger.warning(
                    "journal \(name)\(former) was taken over and is given back: \(refusal?.why ?? "\(error)")")
            }
        }
        state.withLock { state in
            state.lives[id] = nil
            state.openings[id] = nil
        }
        watch.leave(id, lacksRoom: lacksRoom)
    }

    /// Why a journal is not tried again at once; nil where nothing says that the next try fails as well. Want of room is told
    /// otherwise; what another host has is none of this one's, a copy that is gone is made again, and one that was stopped has not
    /// failed.
    private func refusal(_ error: any Error, of journal: ListedJournal) -> TakeoverRefusals.Refusal? {
        if let trouble = state.withLock({ $0.openings[journal.id] })?.givenUp {
            return TakeoverRefusals.Refusal(journal: journal.name, why: trouble.words, cause: .database)
        }
        let failure = error as? JournalError
        let passing: [JournalError.Code] = [.diskFull, .ownershipLost, .contradicted, .copyLost, .closed]
        if let failure, passing.contains(failure.code) { return nil }
        return TakeoverRefusals.Refusal(
            journal: journal.name, why: failure?.message ?? "\(error)",
            cause: failure?.code == .wrongKey ? .keys : .other)
    }

    private func open(_ taken: FleetWatch.Taken) async throws -> (OwnedJournal, FleetOrders) {
        let stop = try OpeningStop()
        let log = FleetLog(logger, place.record, journal: taken.journal.name)
        let opening = TakeoverOpening(taken.journal.name, stop, clock: place.terms.clock)
        let isEnding = state.withLock { state in
            state.openings[taken.journal.id] = opening
            return state.isEnding
        }
        if isEnding { stop.stop() }
        // Cancelled with the end of this call.
        async let _ = opening.watch()
        let journals = place.journals { news in
            log.tell(news)
            opening.tell(news)
        }
        return try await OwnThread.run("holdfast-takeover") { [place] in
            let owned = try journals.open(taken.journal, taken: taken.ownership, stop)
            // What its former owner has learnt.
            place.shared.catchUp(stop, onWaiting: { log.tell(.waiting($0)) })
            do throws(JournalError) { return (owned, try journals.orders(stop, for: owned)) } catch {
                owned.close()
                throw error
            }
        }
    }

    /// - Parameter onBegin: called when nothing is in the way of its delivery any more.
    private func run(_ owned: OwnedJournal, _ orders: JournalOrders, onBegin: () -> Void) async throws -> Bool {
        let metrics = metrics.taken(journal: owned.name)
        defer { metrics.remove() }
        let life: TakenJournal
        do {
            let (configuration, routes, webhooks) = try means()
            life = try await TakenJournal(
                owned, place, orders: orders, configuration: configuration, routes: routes, webhooks: webhooks,
                host: host, metrics: metrics)
        } catch {
            await close(owned)
            throw error
        }
        let isEnding = state.withLock { state in
            state.openings[owned.id] = nil
            state.lives[owned.id] = life
            return state.isEnding
        }
        if isEnding { return await close(owned) }
        onBegin()
        do {
            try await life.run()
        } catch {
            await close(owned)
            throw error
        }
        return await close(owned)
    }

    @discardableResult
    private func close(_ owned: OwnedJournal) async -> Bool {
        await OwnThread.run("holdfast-close") { owned.close() }
    }
}
