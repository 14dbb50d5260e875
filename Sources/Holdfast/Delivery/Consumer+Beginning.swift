/// The state that a Consumer takes over from the one that had the route's lanes before, in this process or an earlier one.
extension Consumer.Lanes {
    func table(window: Int) -> LaneTable {
        // Half a window ahead is far enough for a turn's reading, and no more than needed counts as possibly sent.
        let lookahead = max(min(window, 10_000) / 2, 1)
        switch self {
        case .opened(let lanes):
            return LaneTable(
                lanes.map { LaneStateMachine(key: $0.key, opening: $0.opening, lookahead: lookahead) })
        case .takenOver(let other):
            return LaneTable(other.lanes.map { LaneStateMachine(succeeding: $0.machine) })
        }
    }
}

extension RouteContext {
    convenience init(
        index: Int, _ route: Route, in surroundings: Consumer.Surroundings, _ configuration: EngineConfiguration,
        seed: UInt64
    ) {
        let log = EngineLog(
            surroundings.logger, clock: surroundings.clock, interval: configuration.logInterval, route: route.name)
        let observer = RouteObserver(
            surroundings.observer, route: route.name, index: index, log: log,
            measureInterval: configuration.measureInterval)
        self.init(
            index: index, route: route, configuration: configuration, producer: surroundings.producer,
            clock: surroundings.clock, gate: surroundings.gate, inbox: RouteInbox(),
            teller: RouteTeller(
                observer, board: surroundings.board, events: surroundings.events, route: route.name,
                clock: surroundings.clock,
                conditions: RouteConditions(
                    log, clock: surroundings.clock, interval: configuration.logInterval,
                    answersEach: route.connector.confirmationMode == .perNotification)),
            jitter: Jitter(seed: seed), spans: surroundings.tracer.map { RouteSpans($0, route: route) },
            announceMoves: surroundings.announceMoves)
    }
}

extension RouteJudge {
    /// A judge who goes on with what another one knew of the same service.
    convenience init(_ lanes: LaneTable, for context: RouteContext, succeeding opened: Consumer.Lanes) {
        var policy = context.configuration.throttle
        // Where only errors are answered there is no answer to wait for.
        if context.connector.confirmationMode != .perNotification { policy.firstBurst = .max }
        var throttle = RouteThrottle(policy: policy, window: context.configuration.window)
        var throttled: EngineStatus.Throttle?
        if case .takenOver(let other) = opened, other.connector.endpoint == context.connector.endpoint {
            throttle = other.judge.throttle
            throttle.change(to: policy, window: context.configuration.window)
        }
        if case .takenOver(let other) = opened, throttle.isThrottling { throttled = other.judge.throttled }
        self.init(
            lanes, configuration: context.configuration, connector: context.connector,
            proven: Self.provenTopics(for: context), throttle: throttle, jitter: context.jitter,
            now: context.clock.monotonic())
        self.throttled = throttled
    }

    /// Topics that an earlier process has seen taken.
    private static func provenTopics(for context: RouteContext) -> ProvenTopics {
        do throws(JournalError) {
            let note = try context.journal.note(ProvenTopics.noteName(route: context.name))
            return note.map { ProvenTopics($0, service: context.connector.serviceIdentity) } ?? ProvenTopics()
        } catch {
            context.tell(.failed(.readingProvenTopics, error))
            return ProvenTopics()
        }
    }
}
