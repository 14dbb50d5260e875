internal import Holdfast

/// Says whether this host takes what other hosts could send in its place, by how the routes of its engines stand, and by whether its
/// journal has room. Asked from any thread.
final class FleetRestraint: Sendable {
    private struct State {
        var rule = TakingRule()
        var lookedAt: Duration?
    }

    private static let interval = Duration.seconds(1)

    private let clock: EngineClock
    private let rates: FleetRates
    private let isFull: @Sendable () -> Bool
    private let areOthersFull: @Sendable () -> Bool
    private let wallClock: @Sendable () -> FleetClock
    private let engines: @Sendable () -> [PushEngine]
    private let state = Monitor(State())

    /// - Parameters:
    ///   - rates: know how many hosts live.
    ///   - isFull: whether the journal that this host accepts into has no room.
    ///   - areOthersFull: whether no other host that lives has room, either. Asked while this one has none.
    ///   - wallClock: this machine's beside the database's.
    ///   - engines: on this host's own journal, and on those that it has taken over.
    init(
        _ clock: EngineClock, _ rates: FleetRates, isFull: @escaping @Sendable () -> Bool,
        areOthersFull: @escaping @Sendable () -> Bool = { false },
        wallClock: @escaping @Sendable () -> FleetClock, engines: @escaping @Sendable () -> [PushEngine]
    ) {
        (self.clock, self.rates, self.isFull, self.areOthersFull) = (clock, rates, isFull, areOthersFull)
        (self.wallClock, self.engines) = (wallClock, engines)
    }

    /// How many submissions by SQL may be claimed now.
    var room: Int {
        switch verdict {
        case .takes: .max
        case .tries: 1
        case .leaves, .waits: 0
        }
    }

    /// Whether other hosts are to have what this one has claimed and its journal does not take.
    var othersLive: Bool { rates.present > 1 }

    /// Some were claimed.
    func claimed() {
        let now = clock.monotonic()
        state.withLock { $0.rule.tried(at: now) }
    }

    /// How long nobody must have taken a lost host's journal before this host does.
    var delay: Duration { reason == nil ? .zero : TakingRule.delay }

    /// That this host leaves to others what it can't send.
    func condition(now: WallTime) -> HealthCondition? {
        guard let reason else { return nil }
        if reason == .full, areOthersFull() {
            return HealthCondition(
                .leftToOthers, .fault, "process", since: now, cause: "allFull",
                what:
                    "this host has no room in its journal, and neither has any other host: submissions by SQL and journals of "
                    + "lost hosts wait",
                next:
                    "make room on one of the hosts, as the fault of its journal says, or add a host: it takes them by itself",
                command: "holdfast postgres status")
        }
        let (why, next) =
            switch reason {
            case .cutOff:
                (
                    "reaches its push service on no route",
                    "find out what keeps it from the service, such as its clock, its network or a firewall, and it takes them again by "
                        + "itself; what it has taken before waits here: if this lasts, end this host, and others deliver that, too"
                )
            case .clock:
                (
                    "is refused by its push service, while \(wallClock().words ?? "its clock was wrong")",
                    "set the clock right, and it takes them again by itself; what it has taken before waits here: if this lasts, end "
                        + "this host, and others deliver that, too"
                )
            case .full:
                (
                    "has no room in its journal",
                    "make room, as the fault of the journal says, and it takes them again by itself; what it has taken before goes out"
                )
            }
        return HealthCondition(
            .leftToOthers, .warning, "process", since: now, cause: reason.rawValue,
            what: "this host \(why), and leaves submissions by SQL and journals of lost hosts to the other hosts",
            next: next,
            command: "holdfast doctor")
    }

    private var verdict: TakingRule.Verdict { looked { $0.verdict(at: $1) } }
    private var reason: TakingRule.Reason? { looked { rule, _ in rule.reason } }

    /// As of a second ago at most.
    private func looked<R>(_ body: (TakingRule, Duration) -> R) -> R {
        let now = clock.monotonic()
        let isDue = state.withLock { state in
            if let last = state.lookedAt, now - last < Self.interval { return false }
            state.lookedAt = now
            return true
        }
        if isDue {
            let standings = Self.standings(engines().map { $0.status() }, isClockOff: wallClock().isOff)
            let (isFull, hosts) = (isFull(), rates.present)
            state.withLock { $0.rule.looked(standings, isFull: isFull, hosts: hosts, at: now) }
        }
        return state.withLock { body($0.rule, now) }
    }

    private static func standings(_ engines: [EngineStatus], isClockOff: Bool) -> [String: TakingRule.Standing] {
        var standings: [String: TakingRule.Standing] = [:]
        for status in engines {
            for (route, connection) in status.connections {
                let away = status.conditions.first { $0.kind == .serviceAway && $0.route == route }
                let isRefused = status.conditions.contains { $0.kind == .credentialsRefused && $0.route == route }
                let standing =
                    isRefused && isClockOff
                    ? TakingRule.Standing.refused : TakingRule.Standing(connection, failures: away?.failures ?? 0)
                standings[route] = standings[route]?.joined(with: standing) ?? standing
            }
        }
        return standings
    }
}
