extension PQConnection {
    /// Runs statements in one round trip, in their order. Outside of a transaction they are one, committed at the end. After
    /// an error nothing that follows is carried out.
    ///
    /// At most one statement commits, and it is the last. A commit whose answer did not come, or that the server made without
    /// waiting for its standby, is `inDoubt`, and never anything else. A transaction that was begun before an error stays open
    /// and failed, and is the caller's to roll back.
    ///
    /// - Returns: one result for each step.
    @discardableResult
    package func run(_ steps: [PQStep], by deadline: ContinuousClock.Instant) throws(PQError) -> PQAnswer {
        enter()
        defer { leave() }
        let patience = Patience(deadline: deadline, interruption: interruption)
        try checkReady(patience)
        let doubt = try CommitDoubt(
            steps.map { ($0.statement.effect, $0.isReading) }, inTransaction: handle.isInTransaction)
        try PipelineCall.check(steps, prepared: prepared)
        guard !steps.isEmpty else { return PQAnswer(results: [], notices: handle.notices.drain()) }
        var call = PipelineCall(handle: handle, patience: patience, doubt: doubt, steps: steps)
        do throws(PQError) {
            try call.send(prepared: prepared)
            try call.receive()
        } catch {
            for (name, sql) in call.newlyPrepared { prepared[name] = sql }
            let isAnswered = call.doubt.isAnswered
            let error = isAnswered ? error : explained(error)
            finish()
            guard isAnswered else { throw error }
            return try call.verdict()
        }
        noteAnswer()
        for (name, sql) in call.newlyPrepared { prepared[name] = sql }
        return try call.verdict()
    }

    /// Waits for words that others send by `NOTIFY`, on channels that this session listens to.
    ///
    /// - Returns: none at the deadline. The connection stays usable.
    package func notifications(by deadline: ContinuousClock.Instant) throws(PQError) -> [PQNotification] {
        enter()
        defer { leave() }
        let patience = Patience(deadline: deadline, interruption: interruption)
        while true {
            guard !handle.isBad else { throw lost() }
            handle.consume()
            var found: [PQNotification] = []
            while let notification = handle.notification() { found.append(notification) }
            if !found.isEmpty { return found }
            guard !handle.isBad else { throw lost() }
            switch patience.wait(handle.socket, reading: true, writing: false) {
            case .ready: continue
            case .deadline: return []
            case .interruption: throw .interrupted
            }
        }
    }

    /// Finds out whether the connection was lost since the last call, so that a loss from before is never taken for one in the
    /// middle of this call.
    private func checkReady(_ patience: Patience) throws(PQError) {
        if interruption.isInterrupted { throw .interrupted }
        while !handle.isBad, patience.deadline > .now, patience.isReadable(handle.socket) {
            handle.consume()
            // Takes in what was read, such as the server's last words.
            _ = handle.isBusy
        }
        guard !handle.isBad, !handle.notices.endSession else { throw lost() }
        guard patience.deadline > .now else {
            throw PQError(.unreachable, "the time for the call was over before it began", cause: .deadline)
        }
    }

    private func lost() -> PQError {
        let words = handle.isClosed ? "the connection to PostgreSQL is closed" : "the connection to PostgreSQL was lost"
        let report = handle.isClosed ? nil : handle.notices.drain().last { $0.endsSession }
        finish()
        let reason = report.map { ": \($0.message) (\($0.sqlState))" } ?? ""
        return PQError(.unreachable, words + reason, cause: .connectionLost, server: report)
    }
}
