internal import Logging

/// One connection for the route, made when there is something to send, and made again with backoff.
extension Consumer {
    func connectIfNeeded(now: Duration) {
        switch phase {
        case .connecting, .connected: return
        case .waiting(let until) where until > now: return
        case .idle, .waiting: break
        }
        let hasDeferred = deferredDue.contains { $0.value.monotonic <= now && lanes[$0.key].isRunning }
        guard hasDeferred || lanes.contains(where: { $0.isRunning && $0.hasWork }) else {
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
                links[number] = Link(connection: connection)
                phase = .connected(number)
                logger.info("connected to \(route.connector.endpoint)")
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

    func connectionEnded(_ number: Int, _ connectionEnd: ConnectionEnd, now: Duration) {
        guard let link = links[number], link.connection != nil else { return }
        link.connection = nil
        if link.isOver { links[number] = nil }
        let cause = connectionEnd.cause ?? "closed"
        if shutdownDeadline == nil { logger.notice("the connection to \(route.connector.endpoint) ended: \(cause)") }
        guard case .connected(number) = phase else { return }
        waitToReconnect(after: link, now: now)
        board.connection(of: route.name, connectionEnd.cause.map { .waiting(ConnectError(.temporary, $0)) } ?? .idle)
    }

    /// One that brought answers is followed at once; one that did not, after a while.
    private func waitToReconnect(after link: Link, now: Duration) {
        if link.hasWorked { reconnect.worked() }
        phase = .waiting(until: now + (link.hasWorked ? .zero : reconnect.failed(random: randomUnit())))
    }

    /// Tells the outside what there is.
    func publish() {
        let statuses = lanes.map(\.status)
        let changed = statuses != publishedLanes
        if changed { publishedLanes = statuses }
        board.publish(
            route: route.name, inFlight: inFlight, lanes: changed ? lanes.map { ($0.key, $0.status) } : nil,
            rest: rest())
    }

    /// Why there is nothing to do; nil when there is.
    private func rest() -> EngineRest? {
        guard beingWritten == 0, unwritten.isEmpty, inFlight == 0, promoting.isEmpty else { return nil }
        var reason: String?
        for lane in lanes where journal.depth(lane.id) > 0 {
            guard case .stopped(let why) = lane.status else { return nil }
            reason = reason ?? why
        }
        return reason.map(EngineRest.stopped) ?? .drained
    }
}
