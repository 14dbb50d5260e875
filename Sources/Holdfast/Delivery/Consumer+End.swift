/// How the work on a route comes to its end, and who goes on with what is left.
extension Consumer {
    /// Entries in flight get their answers, suspects go back to their lanes, and the marks step back.
    func progressEnd(at now: Moment) {
        guard !context.ending.isOver, context.ending.hasBegun else { return }
        shutdown.closeProven(now: now.monotonic)
        if context.ending.isOverdue(now.monotonic) {
            guard context.ending.retirement != nil else { return context.ending.complete() }
            abandonConnections(at: now)
        }
        let isQuiet = !connections.areOpen && !lanes.isPromoting
        if isQuiet { performer.perform(judge.releaseAllSuspects(at: now), at: now) }
        // At once: connections can take until the limit over their ends, and a process that is killed meanwhile must not make
        // *unknown* what never left.
        marks.retreat(at: now)
        guard isQuiet, isSettled, !performer.hasLateErrors, context.holds.readAgainAt == nil, !lanes.isLowering
        else { return }
        // Whoever goes on needs them where they are.
        if !context.ending.marksAreLowered, context.ending.retirement != .replaced { marks.lowerToRest() }
        if !lanes.isLowering { context.ending.complete() }
    }

    /// Connections that do not end by themselves: what they have is unknown.
    private func abandonConnections(at now: Moment) {
        let overdue = connections.ordered.filter { $0.value.connection != nil }
        let end = ConnectorEvent.ended(ConnectionEnd(possiblySent: nil, cause: "it did not end within the limit"))
        if !overdue.isEmpty { takeEvents(overdue.map { ($0.key, end) }, at: now) }
    }

    // MARK: Nobody steps it any more

    /// Closes connections that were made after they were needed.
    func closeUnclaimed() { close(context.inbox.takeConnected()) }

    private func close(_ unclaimed: [(connection: Int, result: Result<any Connection, ConnectError>)]) {
        for case (_, .success(let connection)) in unclaimed { connection.close(deadline: .zero) }
    }

    /// No turn comes any more: what was left for this one is for the Consumer that has its lanes now.
    func handOver(to successor: Consumer) {
        var left = context.inbox.close()
        close(left.connected)
        left.withdrawals = withdrawals.takeWaiting() + left.withdrawals
        let found = left
        if !successor.post({ $0.takeOver(found) }) { found.refuse(JournalError.engineHasEnded) }
    }

    /// Completes requests that wait for a turn, because no more turns come.
    func refuseOperators() {
        let error = JournalError.engineHasEnded
        let left = context.inbox.close()
        left.refuse(error)
        for (_, work, result) in left.settled { work.part.withdrawal?.answer(result) }
        for work in performer.unwrittenWork { work.part.withdrawal?.answer(.failure(error)) }
        for order in withdrawals.takeWaiting() { order.completion(.failure(error)) }
    }
}
