extension RouteObserver {
    /// Counts what metrics count. What is rare is told at once, all else when the turn ends.
    func take(_ news: RouteNews) {
        switch news {
        case .handedOut(_, first: _, last: _, let count, connection: _, let possibleDuplicates):
            handedOut(count, possibleDuplicates: possibleDuplicates)
        case .settling(let counts): settled(counts)
        case .withdrawn(let withdrawal): settled(SettlementCounts(withdrawal))
        case .lateError(let recalled, let lost): lateError(recalled: recalled, lost: lost)
        case .connected: connectionOpened()
        case .connectFailed(let error, endpoint: _, wait: _, isOnly: _): connectionFailed(error)
        case .disconnected(_, endpoint: _, let cause, isExpected: _): connectionClosed(cause: cause)
        case .laneChanged(let lane, let state): laneStateChanged(lane, to: state)
        case .holding(let reason): holdChanged(reason)
        default: break
        }
    }
}

extension StatusBoard {
    /// Keeps what a status says of it.
    func take(_ news: RouteNews, route: String) {
        switch news {
        case .handedOut(_, first: _, last: _, let count, connection: _, let possibleDuplicates):
            handedOut(count, possibleDuplicates: possibleDuplicates)
        case .settling(let counts): add(counts)
        case .withdrawn(let withdrawal): add(SettlementCounts(withdrawal))
        case .lateError(let recalled, let lost): lateError(recalled: recalled, lost: lost)
        case .secondHandOut(_, let count): secondHandOut(count)
        case .connecting: connecting(of: route)
        case .connected: connection(of: route, .connected)
        case .connectFailed(let error, endpoint: _, wait: _, isOnly: true): connection(of: route, .waiting(error))
        case .unconnected(let cause):
            connection(of: route, cause.map { .waiting(ConnectError(.temporary, $0)) } ?? .idle)
        default: break
        }
    }
}

extension SettlementCounts {
    /// The counts of a withdrawal, which are known when it is durable.
    fileprivate init(_ withdrawal: Withdrawal) {
        self.init()
        withdrawn = withdrawal.withdrawn
        unknown = withdrawal.unknown
    }
}
