internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport
internal import NIOCore

/// The connection's life.
extension APNsHandler {
    /// The service's SETTINGS have come, or changed.
    func settingsChanged(streams: Int, headerTable: Int) {
        headers.setPeerTableSize(headerTable)
        // As many again may wait here, so that an answer starts the next request without asking the engine.
        let streams = max(min(streams, configuration.maximumStreams), 1)
        let capacity = 2 * streams
        connection.setRoom(capacity: capacity, streams: streams)
        if case .opening = phase {
            phase = .open
            ready.succeed(connection)
        } else {
            sink(.capacityChanged(capacity))
        }
    }

    /// Takes nothing more, waits for the answers to what is open, then ends.
    func close(deadline: Duration) {
        switch phase {
        case .ended: return
        case .opening, .open: drain(cause: nil)
        case .draining: break
        }
        guard case .draining = phase, let context else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: TimeAmount(deadline)) { handler.value.end(nil) }
    }

    /// From now on nothing new goes out on this connection.
    ///
    /// - Parameters:
    ///   - unsent: the result for what has no stream yet; by default it goes over another connection.
    ///   - untold: what the service has said that stands for all, where no answer has carried it to the engine.
    func drain(cause: String?, unsent: SendResult? = nil, untold: SendResult? = nil) {
        switch phase {
        case .draining, .ended: return
        // Nobody has it yet.
        case .opening: return end(cause)
        case .open: phase = .draining(cause: cause)
        }
        sink(.draining)
        queue.append(connection.inbox.takeAll())
        if !returnQueue(unsent), let untold { sink(.told(untold)) }
        endIfDrained()
    }

    /// The credentials have been replaced by others, which new connections are opened with.
    func retire() {
        isRetired = true
        drain(cause: "new credentials are in use")
    }

    func endIfDrained() {
        guard case .draining(let cause) = phase, session.openStreams == 0 else { return }
        end(cause)
    }

    /// Once a second.
    func tick() {
        let now = NIODeadline.now()
        giveUpLate(now)
        switch liveness.check(at: now) {
        case .fine: break
        case .ping: session.ping(0x686f_6c64_6661_7374)
        case .dead:
            dialed.stalled("does not answer a PING")
            return end("the service has been silent: no answer to a PING within \(configuration.pingDeadline)")
        }
        // A service that allows no streams at all, and answers to PING, would hold what is queued for ever.
        if session.openStreams == 0, now - lastStart >= TimeAmount(configuration.sendDeadline) {
            return end("the service has taken no request for \(configuration.sendDeadline)")
        }
        let isBusy = session.openStreams > 0 || !queue.isEmpty
        if idle.isOver(nextStreamID: session.nextRequestStreamID, isBusy: isBusy, at: now) { drain(cause: nil) }
        if liveness.isMinuteTick {
            session.renewFrameBudget()
            answers.turn()
        }
        endIfDrained()
        pump()
    }

    /// Requests that have reached their deadline.
    private func giveUpLate(_ now: NIODeadline) {
        let late = session.openRequests(
            before: liveness.boundary(at: now, nextStreamID: session.nextRequestStreamID))
        guard !late.isEmpty else { return }
        for request in late { _ = session.cancel(streamID: request.streamID) }
        let result = SendResult.unknown("the service did not answer within \(configuration.sendDeadline)")
        sink(.results(late.map { (Ticket(rawValue: $0.tag), result) }))
        // Streams that have just been freed are tried before anybody is called unwilling to take a request.
        lastStart = now
        guard let fault = answers.gaveUp(late.count, at: now) else { return }
        dialed.stalled(fault.rawValue)
        drain(cause: "the service \(fault.rawValue)")
    }

    func fail(_ message: String, kind: ConnectError.Kind) {
        ready.fail(ConnectError(kind, message))
        end(message)
    }

    /// The connection is over. What is open may have been taken; what has no stream was not sent.
    ///
    /// - Parameter cause: nil for an end that was asked for.
    func end(_ cause: String?) {
        if case .ended = phase { return }
        // Answers that came together with the end are answers.
        if !events.isEmpty { report() }
        if case .ended = phase { return }
        let wasOpening: Bool
        if case .opening = phase { wasOpening = true } else { wasOpening = false }
        let cause = Self.cause(cause, after: phase)
        phase = .ended
        timer?.cancel()
        ready.fail(ConnectError(.temporary, "\(configuration.endpoint): \(cause ?? "closed")"))
        if cause == nil || session.failure != nil {
            session.goAway()
            write()
        }
        let open = session.openTags.map(Ticket.init(rawValue:))
        _ = queue.removeAll()
        connection.inbox.unbind()
        context?.close(promise: nil)
        guard !wasOpening else { return }
        // What has no stream was not sent, and neither was what is on its way here at this moment.
        sink(.ended(ConnectionEnd(possiblySent: open, cause: cause)))
    }

    /// Why a connection was being drained says more than how it then ended.
    private static func cause(_ cause: String?, after phase: Phase) -> String? {
        guard case .draining(let first?) = phase, let cause, cause != first else { return cause }
        return "\(first); then: \(cause)"
    }
}
