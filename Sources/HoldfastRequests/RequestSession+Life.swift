package import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport

/// The connection's life.
extension RequestSession {
    /// Takes nothing more, waits for the answers to what is open, then ends.
    package mutating func close(deadline: Duration, at now: Moment) {
        if case .ended = phase { return }
        drain(cause: nil, at: now)
        guard case .draining = phase else { return }
        let end = now.monotonic + deadline
        if end <= now.monotonic { return self.end(nil, at: now) }
        endBy = min(endBy ?? end, end)
    }

    /// The credentials have been replaced by others, which new connections are opened with.
    package mutating func retire(at now: Moment) {
        isRetired = true
        drain(cause: "new credentials are in use", at: now)
    }

    /// Waits for no answer any longer, and sends nothing that waits. The connection goes on.
    package mutating func giveUp(_ why: String, at now: Moment) {
        if case .ended = phase { return }
        let open = http.openTags
        for tag in open { http.cancel(tag: tag) }
        let unsent = queue.removeAll()
        if !open.isEmpty { actions.append(.results(open.map { (Ticket(rawValue: $0), .unknown(why)) })) }
        if !unsent.isEmpty { actions.append(.results(unsent.map { ($0, .notSent(why)) })) }
        endIfDrained(at: now)
    }

    /// Time has passed. What is due by then is done.
    package mutating func look(at now: Moment) {
        if case .ended = phase { return }
        if let endBy, endBy <= now.monotonic { return end(nil, at: now) }
        giveUpLate(now)
        tickIfDue(now)
        pump(at: now)
    }

    /// The service's SETTINGS have come, or changed.
    mutating func settingsChanged(streams: Int, headerTable: Int) {
        dialect.setHeaderTableSize(headerTable)
        allowedStreams = max(min(streams, settings.maximumStreams), 1)
        if case .opening = phase {
            phase = .open
            actions.append(.opened(capacity: capacity, streams: usableStreams))
        } else {
            actions.append(.roomChanged(capacity: capacity, streams: usableStreams))
        }
    }

    /// The service has shown that more than one request may be under way: it has taken one, as a rule.
    mutating func prove() {
        guard !writer.isProven else { return }
        writer.isProven = true
        guard case .open = phase, allowedStreams > 1 else { return }
        actions.append(.roomChanged(capacity: capacity, streams: usableStreams))
    }

    /// As many again may wait here, so that an answer starts the next request without asking the engine.
    private var capacity: Int { 2 * allowedStreams }

    private var usableStreams: Int { writer.isProven ? allowedStreams : 1 }

    /// From now on nothing new goes out on this connection.
    ///
    /// - Parameters:
    ///   - unsent: the result for what has no stream yet; by default it goes over another connection.
    ///   - untold: what the service has said that stands for all, where no answer has carried it to the engine.
    mutating func drain(
        cause: String?, unsent: Dialect.Result? = nil, untold: Dialect.Result? = nil, at now: Moment
    ) {
        switch phase {
        case .draining, .ended: return
        // The engine does not have it yet.
        case .opening: return end(cause, at: now)
        case .open: phase = .draining(cause: cause)
        }
        actions.append(.draining)
        if !returnQueue(unsent), let untold { actions.append(.told(untold)) }
        endIfDrained(at: now)
    }

    mutating func endIfDrained(at now: Moment) {
        guard case .draining(let cause) = phase, http.openStreams == 0 else { return }
        end(cause, at: now)
    }

    private mutating func tickIfDue(_ now: Moment) {
        if case .ended = phase { return }
        guard let nextTick, nextTick <= now.monotonic else { return }
        self.nextTick = now.monotonic + Self.tickInterval
        switch liveness.check(at: now.monotonic) {
        case .fine: break
        case .ping: http.ping(0x686f_6c64_6661_7374)
        case .dead:
            actions.append(.stalled("does not answer a PING"))
            return end("the service has been silent: no answer to a PING within \(settings.pingDeadline)", at: now)
        }
        // A service that allows no streams at all, and answers to PING, would hold what is queued for ever.
        if http.openStreams == 0, now.monotonic - lastStart >= settings.sendDeadline {
            return end("the service has taken no request for \(settings.sendDeadline)", at: now)
        }
        let isBusy = http.openStreams > 0 || !queue.isEmpty
        if idle.isOver(nextStreamID: http.nextRequestStreamID, isBusy: isBusy, at: now.monotonic) {
            drain(cause: nil, at: now)
        }
        if liveness.isMinuteTick {
            http.renewFrameBudget()
            answers.turn()
        }
        endIfDrained(at: now)
    }

    /// Requests that have reached their deadline.
    private mutating func giveUpLate(_ now: Moment) {
        let late = http.openRequests(before: liveness.boundary(at: now.monotonic))
        guard !late.isEmpty else { return }
        for request in late { _ = http.cancel(streamID: request.streamID) }
        let result = Dialect.Result.unknown("the service did not answer within \(settings.sendDeadline)")
        actions.append(.results(late.map { (Ticket(rawValue: $0.tag), result) }))
        // Streams that have just been freed are tried before anybody is called unwilling to take a request.
        lastStart = now.monotonic
        if let fault = answers.gaveUp(late.count, at: now.monotonic) {
            actions.append(.stalled(fault.rawValue))
            drain(cause: "the service \(fault.rawValue)", at: now)
        }
        endIfDrained(at: now)
    }

    /// The connection is over. What is open may have been taken; what has no stream was not sent.
    ///
    /// - Parameter cause: nil for an end that was asked for.
    mutating func end(_ cause: String?, at now: Moment) {
        if case .ended = phase { return }
        // Answers that came together with the end are answers.
        if !events.isEmpty { report(at: now) }
        if case .ended = phase { return }
        let wasOpening: Bool
        if case .opening = phase { wasOpening = true } else { wasOpening = false }
        let cause = Self.cause(cause, after: phase)
        phase = .ended
        if cause == nil || http.failure != nil { http.goAway() }
        let open = http.openTags.map(Ticket.init(rawValue:))
        _ = queue.removeAll()
        actions.append(.close)
        // What has no stream was not sent, and neither was what is on its way here at this moment.
        actions.append(
            wasOpening
                ? .failed(ConnectError(.temporary, "\(settings.endpoint): \(cause ?? "closed")"))
                : .ended(possiblySent: open, cause: cause))
    }

    /// Puts the reason for draining before the cause of the end: it says more.
    private static func cause(_ cause: String?, after phase: Phase) -> String? {
        guard case .draining(let first?) = phase, let cause, cause != first else { return cause }
        return "\(first); then: \(cause)"
    }
}
