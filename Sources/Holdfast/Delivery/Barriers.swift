/// Proof on connections on which only errors are answered: silence is waited for, and barriers are written.
final class Barriers {
    private let context: RouteContext
    private let connections: Connections

    init(_ context: RouteContext, _ connections: Connections) {
        self.context = context
        self.connections = connections
    }

    /// - Parameter windowLimit: the most entries in flight on one connection.
    func look(windowLimit: Int, now: Duration) {
        for (number, link) in connections.ordered where link.connection != nil {
            guard let state = link.flights.cumulative, let connection = link.cumulativeConnection else { continue }
            if state.quiet.count > 0 {
                link.flights.cumulative!.quiet.forget(before: now - context.configuration.lateErrorPeriod)
            }
            if state.silenceCounts {
                if state.silenceConfirms, let stamp = link.flights.cumulative!.clock.ask() {
                    connection.listen(stamp: stamp)
                }
            } else if state.clock.isIdle, state.window.unconfirmed > 0 {
                want(link)
            }
            // A million entries must not wait for silence in memory: from half a window on, proof is asked for.
            if state.window.unconfirmed >= max(windowLimit / 2, 1) || link.isDraining { want(link) }
            if case .wanted = link.flights.cumulative!.barrier, connections.pool.contains(number) {
                connections.retire(number, now: now)
            }
            closeDrained(link)
            endOverdue(link, number, connection, now: now)
        }
    }

    private func endOverdue(_ link: Link, _ number: Int, _ connection: any CumulativeConnection, now: Duration) {
        guard case .written(let deadline) = link.flights.cumulative!.barrier, deadline <= now else { return }
        let limit = context.configuration.barrierLimit
        context.tell(.barrierUnanswered(number, limit: limit))
        connection.close(deadline: .zero)
        link.flights.cumulative!.barrier = .written(deadline: now + limit)
    }

    /// One that takes nothing more, and of which nothing is left to be proven.
    private func closeDrained(_ link: Link) {
        guard link.isDraining, !link.isClosing, link.flights.cumulative!.window.unconfirmed == 0,
            !link.flights.cumulative!.awaitsProof
        else { return }
        link.isClosing = true
        link.connection?.close(deadline: .zero)
    }

    /// Asks for proof of what is unconfirmed, on every connection.
    func wantAll() { for (_, link) in connections.ordered { want(link) } }

    private func want(_ link: Link) {
        guard let state = link.flights.cumulative, case .none = state.barrier,
            link.cumulativeConnection?.canWriteBarrier == true
        else { return }
        // A connection that is given up takes with it what might deny that silence was right.
        let isGivenUp = context.ending.hasBegun || link.isDraining
        guard state.window.unconfirmed > 0 || isGivenUp && state.quiet.count > 0 else { return }
        link.flights.cumulative!.barrier = .wanted
    }

    /// A barrier costs its connection: it is written when new traffic goes another way, or has none.
    func writeWanted(now: Duration) {
        if connections.pool.active.isEmpty, connections.pool.isMaking { return }
        for (number, link) in connections.ordered {
            guard case .wanted? = link.flights.cumulative?.barrier, link.connection != nil,
                !connections.pool.contains(number)
            else { continue }
            context.tell(.barrierWritten(number))
            write(link, now: now)
        }
    }

    /// Proof before the end, where it can be had; else silence, if it is long enough within the limit.
    func writeLast(_ link: Link, now: Duration) {
        want(link)
        if case .wanted? = link.flights.cumulative?.barrier { write(link, now: now) }
    }

    private func write(_ link: Link, now: Duration) {
        guard let connection = link.cumulativeConnection else { return }
        link.flights.cumulative!.barrier = .written(deadline: now + context.configuration.barrierLimit)
        connection.writeBarrier()
    }
}
