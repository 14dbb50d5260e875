internal import Logging

/// An orderly end: what is in flight gets its answers within a limit, and the rest stays in the journal as it is.
/// Interrupted work is not failed work.
extension Consumer {
    func beginShutdown(now: Duration) {
        if retirement != nil {
            // Now it is the engine that ends, which waits for nothing beyond its own limit.
            retirement = nil
            shutdownDeadline = now + configuration.shutdownLimit
        }
        guard shutdownDeadline == nil else { return }
        shutdownDeadline = now + configuration.shutdownLimit
        log(
            .routeShuttingDown, "route \(name) ends; \(inFlight) in flight get their answers",
            ["in-flight": .count(inFlight)])
        for (_, link) in orderedLinks {
            guard link.cumulative != nil else {
                link.connection?.close(deadline: configuration.shutdownLimit)
                continue
            }
            // Proof, where it can be had; else silence, if it is long enough within the limit.
            wantBarrier(link)
            if case .wanted = link.cumulative!.barrier { writeBarrier(link, now: now) }
        }
    }

    /// The same, of this route alone. Whoever takes the lanes over must know what was sent: so this does not end before all
    /// that came of it is on disk, however long that takes.
    func retire(_ retirement: Retirement, now: Duration) {
        guard shutdownDeadline == nil else { return }
        beginShutdown(now: now)
        self.retirement = retirement
    }

    /// The journal can't be read further, but written: nothing more is handed out, and what is in flight gets its answers
    /// within the shutdown's limit. Otherwise each start would send again what lies before the damage.
    func giveUp(_ error: JournalError) {
        guard end == nil, failing == nil else { return }
        failing = error
        log(
            .journalFailed,
            "stopping: the journal can't be read further; \(inFlight) in flight get their answers first: \(error)",
            error.metadata)
        beginShutdown(now: clock.monotonic())
    }

    private var orderlyEnd: End { failing.map { .failed($0) } ?? .shutDown }

    /// Connections that do not end by themselves: what they have is unknown.
    private func abandonConnections(now: Duration, wall: WallTime) {
        let overdue = orderedLinks.filter { $0.value.connection != nil }
        let end = ConnectorEvent.ended(ConnectionEnd(possiblySent: nil, cause: "it did not end within the limit"))
        if !overdue.isEmpty { takeEvents(overdue.map { ($0.key, end) }, now: now, wall: wall) }
    }

    func progressShutdown(now: Duration, wall: WallTime) {
        guard end == nil, let deadline = shutdownDeadline else { return }
        for (_, link) in orderedLinks {
            guard let state = link.cumulative, let connection = link.connection else { continue }
            if now >= deadline, state.awaitsProof { sayUnproven(link) }
            if state.window.unconfirmed == 0 && !state.awaitsProof || now >= deadline {
                connection.close(deadline: .zero)
            }
        }
        if now >= deadline + Self.graceAfterLimit {
            guard retirement != nil else {
                end = orderlyEnd
                return
            }
            abandonConnections(now: now, wall: wall)
        }
        let isQuiet = !links.values.contains { $0.connection != nil } && !lanes.contains(where: \.isPromoting)
        if isQuiet { releaseAllSuspects(now: now, wall: wall) }
        // At once: connections can take until the limit over their ends, and a process that is killed meanwhile must not make
        // *unknown* what never left.
        retreatMarks(now: now, wall: wall)
        guard isQuiet, beingWritten == 0, unwritten.isEmpty, unmoved.isEmpty, unread.isEmpty, lateErrors.isEmpty,
            readAgainAt == nil,
            !lanes.contains(where: \.isLowering)
        else { return }
        // Whoever goes on needs them where they are.
        if !marksAreLowered, retirement != .replaced { lowerMarks() }
        if !lanes.contains(where: \.isLowering) { end = orderlyEnd }
    }

    /// Silence was believed, and what was to prove it did not come in time.
    private func sayUnproven(_ link: Link) {
        guard let count = link.cumulative?.quiet.count, link.cumulative?.isUnprovenSaid == false else { return }
        link.cumulative?.isUnprovenSaid = true
        log(
            .endUnproven,
            "route \(name) ends, and the service did not answer the barrier that was to prove what silence has confirmed: "
                + "the last \(count) may not have been taken", ["unproven": .count(count)])
    }

    /// Nothing is in flight: the marks, which ran ahead, go back to what may really have been sent. So an orderly restart
    /// calls nothing a possible duplicate that is none, and nothing unknown that never left.
    private func lowerMarks() {
        marksAreLowered = true
        for index in lanes.indices {
            if let mark = lanes[index].retreatToRest() { lowerMark(index, to: mark) }
        }
    }
}
