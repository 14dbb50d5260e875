internal import Holdfast

/// Says whether this host takes what other hosts could send in its place, by how the routes of its engines stand. Asked from any
/// thread.
final class FleetRestraint: Sendable {
    private struct State {
        var rule = TakingRule()
        var lookedAt: Duration?
    }

    private static let interval = Duration.seconds(1)

    private let clock: EngineClock
    private let rates: FleetRates
    private let engines: @Sendable () -> [PushEngine]
    private let state = Monitor(State())

    /// - Parameters:
    ///   - rates: know how many hosts live.
    ///   - engines: on this host's own journal, and on those that it has taken over.
    init(_ clock: EngineClock, _ rates: FleetRates, engines: @escaping @Sendable () -> [PushEngine]) {
        (self.clock, self.rates, self.engines) = (clock, rates, engines)
    }

    /// How many submissions by SQL may be claimed now.
    var room: Int {
        switch verdict {
        case .takes: .max
        case .tries: 1
        case .leaves: 0
        }
    }

    /// Some were claimed.
    func claimed() {
        let now = clock.monotonic()
        state.withLock { $0.rule.tried(at: now) }
    }

    /// How long nobody must have taken a lost host's journal before this host does.
    var delay: Duration { verdict == .takes ? .zero : TakingRule.delay }

    /// That this host leaves to others what it can't send.
    func condition(now: WallTime) -> HealthCondition? {
        guard verdict != .takes else { return nil }
        return HealthCondition(
            .leftToOthers, .warning, "process", since: now,
            what:
                "this host reaches its push service on no route, and leaves submissions by SQL and journals of lost hosts to the "
                + "other hosts",
            next:
                "find out what keeps it from the service, such as its clock, its network or a firewall, and it takes them again by "
                + "itself; what it has taken before waits here: if this lasts, end this host, and others deliver that, too",
            command: "holdfast doctor")
    }

    /// As of a second ago at most.
    private var verdict: TakingRule.Verdict {
        let now = clock.monotonic()
        let isDue = state.withLock { state in
            if let last = state.lookedAt, now - last < Self.interval { return false }
            state.lookedAt = now
            return true
        }
        if isDue {
            let standings = Self.standings(engines().map { $0.status() })
            let hosts = rates.shared.hosts
            state.withLock { $0.rule.looked(standings, hosts: hosts, at: now) }
        }
        return state.withLock { $0.rule.verdict(at: now) }
    }

    private static func standings(_ engines: [EngineStatus]) -> [String: TakingRule.Standing] {
        var standings: [String: TakingRule.Standing] = [:]
        for status in engines {
            for (route, connection) in status.connections {
                let away = status.conditions.first { $0.kind == .serviceAway && $0.route == route }
                let standing = TakingRule.Standing(connection, failures: away?.failures ?? 0)
                standings[route] = standings[route]?.joined(with: standing) ?? standing
            }
        }
        return standings
    }
}
