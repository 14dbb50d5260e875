/// Ends the work on a route, in order or because the journal can't be used: see ``Ending``.
final class Shutdown {
    private let context: RouteContext
    private let connections: Connections
    private let barriers: Barriers

    init(_ context: RouteContext, _ connections: Connections, _ barriers: Barriers) {
        self.context = context
        self.connections = connections
        self.barriers = barriers
    }

    func begin(now: Duration) {
        let limit = context.configuration.shutdownLimit
        guard context.ending.begin(limit: limit, now: now) else { return }
        context.tell(.shuttingDown(inFlight: connections.inFlight))
        for (_, link) in connections.ordered {
            if link.flights.cumulative == nil {
                link.connection?.close(deadline: limit)
            } else {
                barriers.writeLast(link, now: now)
            }
        }
    }

    /// Shuts down this route alone. The successor of its lanes must know what was sent, so this does not end before all
    /// settlements are durable, however long that takes.
    func retire(_ retirement: Retirement, now: Duration) {
        guard !context.ending.hasBegun else { return }
        begin(now: now)
        context.ending.retire(retirement)
    }

    /// The journal has failed for good. Where it can be written all the same, what is in flight gets its answers first:
    /// otherwise each start would send again what lies before the damage.
    func fail(_ error: JournalError) {
        guard error.code == .damaged else { return lost(error) }
        guard context.ending.fail(error) else { return }
        context.tell(.journalUnreadable(error, inFlight: connections.inFlight))
        begin(now: context.clock.monotonic())
    }

    /// The work is over: nothing can be written any more.
    func lost(_ error: JournalError) {
        guard !context.ending.isOver else { return }
        context.tell(.journalLost(error))
        context.ending.lost(error)
        // Nobody listens to them any more.
        for (_, link) in connections.ordered { link.connection?.close(deadline: .zero) }
    }

    /// The journal could not be read: it is tried again, or the work ends.
    func readFailed(_ error: any Error, now: Duration) {
        let error = error as? JournalError ?? JournalError(.damaged, "an entry can't be read: \(error)")
        guard !error.isFatal else { return fail(error) }
        context.tell(.failed(.reading, error))
        context.holds.readAgainAt = now + context.configuration.settlementRetry
    }

    /// Closes connections that have nothing left to prove, and all of them at the limit.
    func closeProven(now: Duration) {
        let isDue = context.ending.isDue(now)
        for (_, link) in connections.ordered {
            guard let state = link.flights.cumulative, let connection = link.connection else { continue }
            if isDue, state.awaitsProof { sayUnproven(link) }
            if state.window.unconfirmed == 0 && !state.awaitsProof || isDue { connection.close(deadline: .zero) }
        }
    }

    /// Silence was believed, and what was to prove it did not come in time.
    private func sayUnproven(_ link: Link) {
        guard let count = link.flights.cumulative?.quiet.count, link.flights.cumulative?.isUnprovenSaid == false
        else { return }
        link.flights.cumulative?.isUnprovenSaid = true
        context.tell(.endUnproven(count))
    }
}
