internal import Logging

/// Connections for the route, made when there is something to send, and made again with backoff.
extension Consumer {
    func connectIfNeeded(now: Duration) {
        guard pool.mayBegin(now: now), parkedUntil == nil, needsConnection(now: now) else { return pool.rest(now: now) }
        guard pool.begin(now: now) else { return }
        scaler.changed()
        if pool.active.isEmpty { board.connecting(of: name) }
        requestConnection(nextConnection)
    }

    /// The first one where there is something to send; another one where too much waits, or those that are there take no
    /// more.
    private func needsConnection(now: Duration) -> Bool {
        guard pool.active.isEmpty else { return wantsMoreConnections(now: now) }
        let hasDeferred = lanes.indices.contains { lane in
            guard let due = deferredDue[lane] else { return false }
            return due.monotonic <= now && mayPromoteOnceConnected(lane)
        }
        return hasDeferred || topicsWantConnection || clockWantsConnection || strandedWantConnection(now: now)
            || lanes.contains(where: { $0.handsOut && $0.hasWork || $0.longsForConnection })
    }

    /// Whether deferred entries of the lane that are to come back are worth a connection.
    func mayPromoteOnceConnected(_ lane: Int) -> Bool { canPromote(lane) || lanes[lane].remedy == .connection }

    private func wantsMoreConnections(now: Duration) -> Bool {
        switch connector.confirmationMode {
        case .perNotification: holdReason == nil && !isSlowedDown && scaler.wantsMore(than: pool.active.count, now: now)
        case .cumulative: lacksConnections
        }
    }

    /// Looks how much waits, and closes a connection that has long not been needed.
    func scaleConnections(now: Duration) {
        guard connector.confirmationMode == .perNotification, !pool.active.isEmpty else { return }
        leaveSurplus(now: now)
        guard pool.limit > 1 else { return }
        scaler.look(waiting: waiting, now: now)
        guard scaler.wantsFewer(than: pool.active.count, now: now), let youngest = pool.active.last,
            let link = links[youngest]
        else { return }
        scaler.changed()
        retire(youngest, now: now)
        link.connection?.close(deadline: Self.retirement)
    }

    /// Hands nothing more to the youngest connections that are beyond the limit. What they have is answered first; where only
    /// errors are answered, it is proven.
    func leaveSurplus(now: Duration) {
        for number in pool.surplus { if let link = links[number] { giveUp(number, link, now: now) } }
    }

    /// Hands nothing more to a connection that works, and ends it when what it has is answered.
    func giveUp(_ number: Int, _ link: Link, now: Duration) {
        retire(number, now: now)
        if link.cumulative == nil {
            link.connection?.close(deadline: Self.retirement)
        } else {
            link.isDraining = true
        }
    }

    /// How long a connection that is not needed any more may take over what it has. Its requests have deadlines of their
    /// own, which come first.
    private static let retirement = Duration.seconds(5 * 60)

    /// About how many entries could go out and have not: at most what the journal holds of the lane, and at most as many as
    /// there are UIDs ahead of the reading.
    private var waiting: Int {
        lanes.reduce(0) { $0 + ($1.isRunning ? min(journal.depth($1.id), $1.greatestWaiting) : 0) }
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
                pool.madeInVain()
            case .success(let connection):
                let link = Link(
                    connection, mode: connector.confirmationMode, barrierIdle: configuration.barrierIdle)
                link.look(now: now, turn: turnNumber)
                links[number] = link
                pool.made(number)
                // While it was being made there may have come to be fewer.
                leaveSurplus(now: now)
                resumeLanes(stoppedFor: [.connection])
                connectionOpened(number)
                events.emit(.connected(route: name))
                board.connection(of: name, .connected)
            case .failure(let error):
                let wait = pool.failed(now: now, random: randomUnit())
                connectionFailed(error, wait: wait)
                if error.kind == .configuration, pool.active.isEmpty {
                    for index in lanes.indices { stop(index, error.message, remedy: .connection) }
                }
                if pool.active.isEmpty { board.connection(of: name, .waiting(error)) }
            }
        }
    }

    /// Hands nothing more to a connection that is about to end; another may be made beside it.
    func leave(_ number: Int, now: Duration) {
        guard let link = links[number],
            pool.leave(number, hasWorked: link.hasWorked, now: now, random: { randomUnit() })
        else { return }
        if pool.active.isEmpty { board.connection(of: name, .idle) }
    }

    /// The connection has done its work.
    func retire(_ number: Int, now: Duration) {
        pool.retire(number, hasWorked: links[number]?.hasWorked == true, now: now)
        if pool.active.isEmpty { board.connection(of: name, .idle) }
    }

    func connectionEnded(_ number: Int, _ connectionEnd: ConnectionEnd, now: Duration) {
        guard let link = links[number], link.connection != nil else { return }
        link.connection = nil
        breakers.ended(voice: number)
        if link.isOver { links[number] = nil }
        if link.isDraining, link.confirmations >= configuration.reconnectEarned { pool.earned(now: now) }
        connectionClosed(number, cause: connectionEnd.cause)
        events.emit(.disconnected(route: name, cause: connectionEnd.cause))
        guard pool.leave(number, hasWorked: link.hasWorked, now: now, random: { randomUnit() }), pool.active.isEmpty
        else { return }
        board.connection(of: name, connectionEnd.cause.map { .waiting(ConnectError(.temporary, $0)) } ?? .idle)
    }

    /// The connector sends with other credentials.
    func takeNewCredentials(now: Duration) {
        parkedUntil = nil
        pool.hurry(now: now)
        credentialTrial.begin()
        credentialTopics.begin()
        topicHold.hurry(now: now, wall: clock.wall())
        resumeLanes(stoppedFor: [.connection, .credentials])
    }

    /// Those that were stopped for a cause that is mended run again.
    func resumeLanes(stoppedFor remedies: Set<LaneStateMachine.StopRemedy>) {
        for index in lanes.indices {
            guard let remedy = lanes[index].remedy, remedies.contains(remedy) else { continue }
            resumeLane(index)
        }
    }

    /// A lane that stopped by itself runs again.
    func resumeLane(_ index: Int) {
        let remedy = lanes[index].remedy
        lanes[index].resume()
        probes[index].end()
        noteState(index)
        events.emit(.laneResumed(lanes[index].key))
        laneChanged(index, isLogged: remedy != .connection)
    }

    /// A number from 0 up to, not including, 1.
    func randomUnit() -> Double { Double.random(in: 0..<1, using: &random) }

    // MARK: Telling the outside

    /// - Parameter answersNudge: whether somebody asked for word of this turn.
    func publish(answersNudge: Bool) {
        let statuses = lanes.indices.map { index in
            StatusBoard.LaneStanding(
                key: lanes[index].key, state: lanes[index].state, nextProbeAt: probes[index].nextAt,
                unreachable: censuses[index].unreachable, isYetToBeProbed: isYetToBeProbed(index))
        }
        let changed = statuses != publishedLanes
        if changed { publishedLanes = statuses }
        let topics = topicHold.isEmpty ? [] : topicHold.standings
        let topicsChanged = topics != publishedTopics
        if topicsChanged { publishedTopics = topics }
        let hold = end == nil && shutdownDeadline == nil ? publishedHoldReason : nil
        if hold != publishedHold {
            publishedHold = hold
            holdChanged(hold)
            events.emit(hold.map { .holding(route: name, $0) } ?? .handingOut(route: name))
        }
        board.publish(
            route: name,
            StatusBoard.RouteState(
                inFlight: inFlight, suspects: breakers.heldCount, holding: hold,
                throttle: throttled, parking: hold == .parked ? parking : nil, lanes: changed ? statuses : nil,
                topics: topicsChanged ? topics : nil,
                rest: rest(),
                answersNudge: answersNudge))
    }

    /// Why nothing is handed out although there may be something to hand out.
    var holdReason: HoldReason? {
        if settlesPayloadError { return .payloadError }
        if readAgainAt != nil { return .journalUnreadable }
        if parkedUntil != nil { return .parked }
        if throttle.isPaused { return .throttled }
        return outcomesAreFull ? .outcomesFull : nil
    }

    /// Why there is nothing to do; nil when there is.
    func rest() -> EngineRest? {
        guard beingWritten == 0, unwritten.isEmpty, unmoved.isEmpty, unread.isEmpty, inFlight == 0,
            !lanes.contains(where: \.isPromoting)
        else { return nil }
        var reason: String?
        var damage: String?
        for (index, lane) in lanes.enumerated() {
            let depth = journal.depth(lane.id)
            if depth == 0 { continue }
            if censuses[index].unreachable >= depth {
                damage = damage ?? Self.unreachableWords(depth, of: lane.key)
                continue
            }
            guard let why = topicReason(index) ?? lane.state.standsStillBecause, !isYetToBeProbed(index) else {
                return nil
            }
            reason = reason ?? why
        }
        return damage.map(EngineRest.damaged) ?? reason.map(EngineRest.stopped) ?? .drained
    }
}
