internal import Logging

/// One connection for the route, made when there is something to send, and made again with backoff.
extension Consumer {
    func connectIfNeeded(now: Duration) {
        switch phase {
        case .connecting, .connected: return
        case .waiting(let until) where until > now: return
        case .idle, .waiting: break
        }
        let hasDeferred = lanes.indices.contains { lane in
            guard let due = deferredDue[lane] else { return false }
            return due.monotonic <= now && canPromote(lane)
        }
        guard parkedUntil == nil, hasDeferred || lanes.contains(where: { $0.isRunning && $0.hasWork }) else {
            phase = .idle
            return
        }
        phase = .connecting
        board.connection(of: route.name, .connecting)
        requestConnection(nextConnection)
    }

    /// The sink for a connection's events, for whoever makes the connection.
    func sink(for number: Int) -> ConnectionSink {
        ConnectionSink { [weak self] event in self?.post { $0.events.append((number, event)) } }
    }

    func takeConnected(_ outcomes: [(connection: Int, result: Result<any Connection, ConnectError>)], now: Duration) {
        for (number, result) in outcomes {
            nextConnection = number + 1
            switch result {
            case .success(let connection) where shutdownDeadline != nil || end != nil:
                connection.close(deadline: .zero)
                phase = .idle
            case .success(let connection):
                let link = Link(
                    connection, mode: route.connector.confirmationMode, barrierIdle: configuration.barrierIdle)
                link.cumulative?.clock.look(now: now)
                links[number] = link
                phase = .connected(number)
                logger.info("connected to \(route.connector.endpoint)")
                events.emit(.connected(route: route.name))
                board.connection(of: route.name, .connected)
            case .failure(let error):
                let wait = reconnect.failed(random: randomUnit())
                phase = .waiting(until: now + wait)
                logger.warning("no connection to \(route.connector.endpoint): \(error); trying again in \(wait)")
                board.connection(of: route.name, .waiting(error))
            }
        }
    }

    /// Hands nothing more to a connection that is about to end; another may be made beside it.
    func leave(_ number: Int, now: Duration) {
        guard case .connected(number) = phase, let link = links[number] else { return }
        waitToReconnect(after: link, now: now)
        board.connection(of: route.name, .idle)
    }

    /// The connection has done its work and is to prove it. That is no failure: new traffic goes to a fresh one at once.
    func leaveForBarrier(now: Duration) {
        phase = .waiting(until: now)
        board.connection(of: route.name, .idle)
    }

    func connectionEnded(_ number: Int, _ connectionEnd: ConnectionEnd, now: Duration) {
        guard let link = links[number], link.connection != nil else { return }
        link.connection = nil
        if link.isOver { links[number] = nil }
        let cause = connectionEnd.cause ?? "closed"
        if shutdownDeadline == nil { logger.notice("the connection to \(route.connector.endpoint) ended: \(cause)") }
        events.emit(.disconnected(route: route.name, cause: connectionEnd.cause))
        guard case .connected(number) = phase else { return }
        waitToReconnect(after: link, now: now)
        board.connection(of: route.name, connectionEnd.cause.map { .waiting(ConnectError(.temporary, $0)) } ?? .idle)
    }

    /// One that brought answers is followed at once; one that did not, after a while.
    private func waitToReconnect(after link: Link, now: Duration) {
        if link.hasWorked { reconnect.worked() }
        phase = .waiting(until: now + (link.hasWorked ? .zero : reconnect.failed(random: randomUnit())))
    }

    /// A number from 0 up to, not including, 1.
    func randomUnit() -> Double { Double.random(in: 0..<1, using: &random) }

    // MARK: Telling the outside

    /// - Parameter answersNudge: whether somebody asked for word of this turn.
    func publish(answersNudge: Bool) {
        let statuses = lanes.map(\.status)
        let changed = statuses != publishedLanes
        if changed { publishedLanes = statuses }
        let hold = end == nil && shutdownDeadline == nil ? holdReason : nil
        if hold != publishedHold {
            publishedHold = hold
            events.emit(hold.map { .holding(route: route.name, $0) } ?? .handingOut(route: route.name))
        }
        board.publish(
            route: route.name,
            StatusBoard.RouteState(
                inFlight: inFlight, suspects: breakers.reduce(0) { $0 + $1.suspects.count }, holding: hold,
                lanes: changed ? lanes.map { ($0.key, $0.standsStillBecause) } : nil, rest: rest(),
                answersNudge: answersNudge))
    }

    /// Why nothing is handed out although there may be something to hand out.
    var holdReason: HoldReason? {
        if settlesPayloadError { return .payloadError }
        if readAgainAt != nil { return .journalUnreadable }
        if parkedUntil != nil { return .parked }
        return outcomesAreFull ? .outcomesFull : nil
    }

    /// Why there is nothing to do; nil when there is.
    private func rest() -> EngineRest? {
        guard beingWritten == 0, unwritten.isEmpty, unread.isEmpty, inFlight == 0, promoting.isEmpty else { return nil }
        var reason: String?
        for lane in lanes where journal.depth(lane.id) > 0 {
            guard let why = lane.standsStillBecause else { return nil }
            reason = reason ?? why
        }
        return reason.map(EngineRest.stopped) ?? .drained
    }
}
