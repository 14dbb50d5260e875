internal import Holdfast

/// Decides whether a host takes what other hosts could send in its place: submissions by SQL, and journals of hosts that are gone.
/// It has no clock and no engine.
///
/// A host that has had no connection to its push service on any route for ``patience`` leaves both to others, as long as others
/// live. What waits in its own journal has connections tried all the while, and the first that is made ends this. Where a route is
/// not tried, since nothing waits for it, one submission is taken now and then: else hosts that all leave them to others would
/// never find out that they can send again.
///
/// Likewise a host whose credentials the service refuses while its clock is wrong, until something is taken. One whose own journal
/// has no room takes neither, alone or not, and takes again when there is room.
struct TakingRule: Sendable {
    /// How a route stands, over all engines of the host.
    enum Standing: Hashable, Sendable {
        case connected
        /// It has no connection, and none has failed: nothing was to be sent, or the last one was closed in an orderly way.
        case idle
        /// The last try has failed, or the last connection has ended otherwise.
        ///
        /// - Parameter failures: since the route was away.
        case away(failures: Int)
        /// The service refuses this host's credentials, and its clock is wrong. What waits is tried again all the while.
        case refused
    }

    enum Verdict: Hashable, Sendable {
        case takes
        /// All is left to others, but for one submission as a trial.
        case tries
        case leaves
        /// Nothing is taken, and no other host lives to whom it could be left.
        case waits
    }

    /// Why something is left to others.
    enum Reason: String, Hashable, Sendable {
        /// No push service is reached on any route.
        case cutOff
        /// The push service refuses the credentials of a host with a wrong clock.
        case clock
        /// The journal has no room.
        case full
    }

    /// How long no route may have a connection before anything is left to others.
    static let patience = Duration.seconds(30)
    /// From one trial to the next.
    static let trialInterval = Duration.seconds(60)
    /// Behind its last failure a route may be there again, and nobody has tried. Longer than the pauses between tries, with a try.
    static let memory = Duration.seconds(180)
    /// How long a lost host's journal must have been left by all, before it is taken by a host that leaves such journals to others.
    static let delay = Duration.seconds(60)

    private struct Away {
        let since: Duration
        var failures: Int
        var failedAt: Duration
    }

    private var routes: Set<String> = []
    private var away: [String: Away] = [:]
    /// Routes that had a connection when one was last tried.
    private var proven: Set<String> = []
    /// When a trial may be made; nil while everything is taken.
    private var nextTrial: Duration?
    private var isFull = false
    private var isRefused = false
    private var isAlone = true

    /// The routes were looked at.
    ///
    /// - Parameters:
    ///   - isFull: whether the journal that this host accepts into has no room.
    ///   - hosts: that live, with this one.
    ///   - now: by a clock of this host.
    mutating func looked(_ standings: [String: Standing], isFull: Bool = false, hosts: Int, at now: Duration) {
        (self.isFull, isAlone) = (isFull, hosts <= 1)
        isRefused = standings.values.contains(.refused)
        routes = Set(standings.keys)
        proven.formIntersection(routes)
        away = away.filter { standings[$0.key] != nil }
        for (route, standing) in standings {
            switch standing {
            case .connected:
                proven.insert(route)
                away[route] = nil
            case .idle: away[route] = nil
            case .away(let failures):
                proven.remove(route)
                var known = away[route] ?? Away(since: now, failures: failures, failedAt: now)
                if known.failures != failures { (known.failures, known.failedAt) = (failures, now) }
                away[route] = known
            case .refused:
                proven.remove(route)
                away[route, default: Away(since: now, failures: 0, failedAt: now)].failedAt = now
            }
        }
        let isCutOff = proven.isEmpty && away.values.contains { now - $0.since >= Self.patience }
        if hosts > 1, isCutOff {
            nextTrial = nextTrial ?? now + Self.trialInterval
        } else {
            nextTrial = nil
        }
    }

    func verdict(at now: Duration) -> Verdict {
        if isFull { return isAlone ? .waits : .leaves }
        guard let nextTrial else { return .takes }
        return nextTrial <= now && hasUntried(at: now) ? .tries : .leaves
    }

    /// Why all is left to others; nil while it is not.
    var reason: Reason? {
        if isFull { return isAlone ? nil : .full }
        return nextTrial == nil ? nil : isRefused ? .clock : .cutOff
    }

    /// A submission was taken as a trial.
    mutating func tried(at now: Duration) {
        if nextTrial != nil { nextTrial = now + Self.trialInterval }
    }

    /// Whether a route may reach its service, and nobody knows.
    private func hasUntried(at now: Duration) -> Bool {
        routes.contains { route in away[route].map { now - $0.failedAt >= Self.memory } ?? true }
    }
}

extension TakingRule.Standing {
    init(_ state: EngineStatus.ConnectionState, failures: Int) {
        if case .connected = state {
            self = .connected
        } else if case .waiting = state {
            self = .away(failures: failures)
        } else {
            self = .idle
        }
    }

    /// Joins the standings of one route in two engines. An engine that has tried to connect knows more than one that has not.
    func joined(with other: Self) -> Self {
        switch (self, other) {
        // Another engine that is connected has sent nothing, or it would be refused, too.
        case (.refused, _), (_, .refused): .refused
        case (.connected, _), (_, .connected): .connected
        case (.away(let first), .away(let second)): .away(failures: first + second)
        case (.away, .idle): self
        case (.idle, .away), (.idle, .idle): other
        }
    }
}
