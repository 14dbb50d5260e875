internal import Logging

/// What happens to a route is logged, and listeners hear of it.
extension Consumer {
    /// News about the wall clock.
    func tellClock(_ remark: WallClockGuard.Remark?) {
        switch remark {
        case nil: return
        case .warning(let message)?:
            log(.clockDistrusted, "\(message): what looks expired waits for \(WallClockGuard.distrust)")
            events.emit(.clockDistrusted(message))
        case .unproven(let message)?:
            log(.clockUnproven, "\(message): what has expired since waits for \(WallClockGuard.distrust)")
        }
    }

    func connectionOpened(_ number: Int) {
        log(
            .connectionOpened, "connected to \(connector.endpoint)",
            ["connection": .count(number), "endpoint": .string(connector.endpoint)])
        observer.connectionOpened()
    }

    func connectionFailed(_ error: ConnectError, wait: Duration) {
        let line: LogLine = error.kind == .configuration ? .connectionMisconfigured : .connectionFailed
        log(
            line, "no connection to \(connector.endpoint): \(error); trying again in \(wait)",
            [
                "endpoint": .string(connector.endpoint), "reason": .string(error.message),
                "wait-ms": .milliseconds(wait),
            ])
        observer.connectionFailed(error)
    }

    /// - Parameter cause: nil for an end that was asked for.
    func connectionClosed(_ number: Int, cause: String?) {
        if let cause, shutdownDeadline == nil {
            log(
                .connectionEnded, "the connection to \(connector.endpoint) ended: \(cause)",
                ["connection": .count(number), "reason": .string(cause)])
        } else {
            log(
                .connectionClosed, "the connection to \(connector.endpoint) is closed",
                ["connection": .count(number)])
        }
        observer.connectionClosed(cause: cause)
    }

    func tellHandedOut(_ entries: EntryBatch, of lane: Int, on connection: Int, possibleDuplicates: Int) {
        guard let first = entries.items.first, let last = entries.items.last else { return }
        observer.handedOut(entries.count, possibleDuplicates: possibleDuplicates)
        log(
            .handedOut, "\(entries.count) entries of \(lanes[lane].key) go out on connection \(connection)",
            [
                "lane": .lane(lanes[lane].key), "connection": .count(connection), "count": .count(entries.count),
                "uids": .uids(first.uid, last.uid), "possible-duplicates": .count(possibleDuplicates),
            ])
    }

    func tellPromoted(_ uids: [UID], lane: Int) {
        guard let first = uids.min(), let last = uids.max() else { return }
        log(
            .promoted, "\(uids.count) deferred entries of \(lanes[lane].key) are due",
            ["lane": .lane(lanes[lane].key), "count": .count(uids.count), "uids": .uids(first, last)])
    }

    func tellCleared(_ cleared: SettlementPlan.Cleared) {
        let key = lanes[cleared.lane].key
        log(
            .cleared, "\(cleared.count) entries of \(key) are confirmed by \(cleared.basis)",
            [
                "lane": .lane(key), "count": .count(cleared.count), "through": .stringConvertible(cleared.through),
                "by": .string("\(cleared.basis)"),
            ])
    }

    func tellWithdrawn(_ withdrawal: Withdrawal) {
        guard withdrawal.withdrawn + withdrawal.unknown > 0 else { return }
        log(
            .withdrawn,
            "\(withdrawal.withdrawn) entries are withdrawn, and \(withdrawal.unknown) that may have been sent are unknown",
            ["withdrawn": .count(withdrawal.withdrawn), "unknown": .count(withdrawal.unknown)])
        var counts = SettlementCounts()
        counts.withdrawn = withdrawal.withdrawn
        counts.unknown = withdrawal.unknown
        board.add(counts)
        observer.settled(counts)
    }

    /// By its new state.
    ///
    /// - Parameter isLogged: false where a line about the connection has said it for all lanes.
    func laneChanged(_ index: Int, isLogged: Bool = true) {
        let key = lanes[index].key
        let state = lanes[index].state
        defer { observer.laneStateChanged(key, to: state) }
        guard isLogged else { return }
        switch state {
        case .running: log(.laneResumed, "lane \(key) runs again", ["lane": .lane(key)])
        case .paused(let reason, _):
            log(.lanePaused, "lane \(key) is paused", ["lane": .lane(key), "reason": .string(reason)])
        case .stopped(let reason, _):
            log(.laneStopped, "lane \(key) is stopped: \(reason)", ["lane": .lane(key), "reason": .string(reason)])
        }
    }

    func holdChanged(_ hold: HoldReason?) {
        if let hold {
            log(.holding, "route \(name) hands out nothing: \(hold)", ["reason": .string(hold.name)])
        } else {
            log(.handingOut, "route \(name) hands out again")
        }
        observer.holdChanged(hold)
    }
}

extension JournalError {
    var metadata: Logger.Metadata { ["code": .string(code.name)] }
}
