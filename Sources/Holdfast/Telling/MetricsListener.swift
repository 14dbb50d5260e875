/// Receives an engine's counts as they arise, for metrics of your own beside swift-metrics.
///
///     final class MyMetrics: MetricsListener {
///         func rejected(_ count: Int, reason: Reason, route: String) { rejections.add(count, reason.rawValue) }
///     }
///     let engine = try PushEngine(journal: journal, routes: routes, listeners: [MyMetrics()])
///
/// Each call reports the sum of one turn, one commit or one call of `submit`. All methods do nothing by default.
///
/// **A method must not block**, nor call the engine or its journal: it runs on the engine's own threads, which do nothing else
/// meanwhile. Add to counters, or hand over to a thread of yours. A call that takes longer than
/// ``EngineConfiguration/listenerLimit`` is logged as a warning with the listener's type.
///
/// Threads: ``accepted(_:)`` and ``committed(_:)`` are called on the journal's thread, ``refused(_:reason:)`` there or on the
/// thread that calls `submit`, all others on the route's. So several threads call a listener at the same time.
///
/// Answers are reported one commit before they are durable. After a crash ``JournalStatus/totals`` are right, not these.
public protocol MetricsListener: Sendable {
    /// Notifications were accepted, and are on disk. Repeats of earlier ones are not counted.
    func accepted(_ count: Int)
    /// `submit` refused notifications, for Apple's reason or one of Holdfast's own. One that is submitted again and refused
    /// again counts again.
    func refused(_ count: Int, reason: Reason)

    /// Entries were handed to a connection; one that is sent again counts again.
    ///
    /// - Parameter possibleDuplicates: the entries among them of which the service may have taken an earlier attempt.
    func sent(_ count: Int, possibleDuplicates: Int, route: String)
    /// Answers came, on connections that answer each notification.
    ///
    /// - Parameter latencies: from the hand-out to the connection until the engine processed the answer. Answers that only say
    ///   that a notification was given up are counted, too.
    func answered(_ latencies: Latencies, route: String)

    /// Entries were confirmed that had waited for so long.
    ///
    /// - Parameter latencies: by the wall clock, from when each was accepted, or from the later time before which it was not to
    ///   be delivered, until the engine processed its confirmation. Entries that go at some hours of the day only are left out.
    func delivered(_ latencies: Latencies, route: String)

    /// Entries were confirmed.
    func confirmed(_ count: Int, by basis: ConfirmationBasis, route: String)
    /// Entries were refused for good, by the service or by Holdfast. `reason` may be any text of a service, of any length:
    /// limit it before you keep something for each.
    func rejected(_ count: Int, reason: Reason, route: String)
    /// Entries expired before they were sent.
    func expired(_ count: Int, route: String)
    /// Entries ended that may have been sent, and are not sent again.
    func unknown(_ count: Int, route: String)
    /// Entries were taken back before they were sent.
    func withdrawn(_ count: Int, route: String)
    /// Newer entries took the place of these before they were sent.
    func superseded(_ count: Int, route: String)
    /// Entries of the route are tried in the other environment of their topic, on its route.
    func moved(_ count: Int, route: String)
    /// Entries were answered "not now", or their result is unknown: they are sent again after a backoff.
    func deferred(_ count: Int, route: String)
    /// Entries returned to their lanes without an attempt counted.
    func requeued(_ count: Int, route: String)
    /// A late error revoked confirmations by silence in time: the entries are sent again, or rejected if it was about them.
    func recalled(_ count: Int, route: String)
    /// A late error revoked confirmations by silence of entries that were not kept any more: they are lost.
    func wronglyConfirmed(_ count: Int, route: String)

    /// The route has another connection.
    func connectionOpened(route: String)
    /// A connection attempt failed. It is retried.
    func connectionFailed(_ error: ConnectError, route: String)
    /// A connection of the route ended.
    ///
    /// - Parameter cause: `nil` for an end that was requested.
    func connectionClosed(cause: String?, route: String)

    /// A commit of the journal is on disk.
    func committed(_ commit: CommitMeasure)
    /// A lane was paused, stopped or resumed.
    func laneStateChanged(_ lane: LaneKey, to state: LaneState)
    /// A lane of the route stopped by itself, or a topic was set aside.
    ///
    /// - Parameter kind: the kind of the condition that it leads to.
    func stopped(because kind: HealthCondition.Kind, route: String)
    /// The route hands out nothing for this reason; with `nil` it hands out entries again.
    func holdChanged(_ hold: HoldReason?, route: String)
    /// Reports levels: at once, and then every ``EngineConfiguration/measureInterval`` while anything happens or waits.
    func measured(_ levels: RouteLevels)
}

extension MetricsListener {
    /// Does nothing by default.
    public func accepted(_ count: Int) {}
    /// Does nothing by default.
    public func refused(_ count: Int, reason: Reason) {}
    /// Does nothing by default.
    public func sent(_ count: Int, possibleDuplicates: Int, route: String) {}
    /// Does nothing by default.
    public func answered(_ latencies: Latencies, route: String) {}
    /// Does nothing by default.
    public func delivered(_ latencies: Latencies, route: String) {}
    /// Does nothing by default.
    public func confirmed(_ count: Int, by basis: ConfirmationBasis, route: String) {}
    /// Does nothing by default.
    public func rejected(_ count: Int, reason: Reason, route: String) {}
    /// Does nothing by default.
    public func expired(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func unknown(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func withdrawn(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func superseded(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func moved(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func deferred(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func requeued(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func recalled(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func wronglyConfirmed(_ count: Int, route: String) {}
    /// Does nothing by default.
    public func connectionOpened(route: String) {}
    /// Does nothing by default.
    public func connectionFailed(_ error: ConnectError, route: String) {}
    /// Does nothing by default.
    public func connectionClosed(cause: String?, route: String) {}
    /// Does nothing by default.
    public func committed(_ commit: CommitMeasure) {}
    /// Does nothing by default.
    public func laneStateChanged(_ lane: LaneKey, to state: LaneState) {}
    /// Does nothing by default.
    public func stopped(because kind: HealthCondition.Kind, route: String) {}
    /// Does nothing by default.
    public func holdChanged(_ hold: HoldReason?, route: String) {}
    /// Does nothing by default.
    public func measured(_ levels: RouteLevels) {}
}

/// The levels (gauges) of a route and its journal at one moment.
public struct RouteLevels: Hashable, Sendable {
    /// One lane of the route.
    public struct Lane: Hashable, Sendable {
        /// The lane's route, urgency and guarantee.
        public var key: LaneKey
        /// Whether the lane runs.
        public var state: LaneState
        /// Unconfirmed entries, deferred ones included.
        public var depth: Int
        /// When the oldest entry was accepted, without deferred ones; `nil` if there is none, or the journal could not be
        /// read.
        public var oldestAcceptedAt: WallTime?

        package init(key: LaneKey, state: LaneState, depth: Int, oldestAcceptedAt: WallTime? = nil) {
            self.key = key
            self.state = state
            self.depth = depth
            self.oldestAcceptedAt = oldestAcceptedAt
        }
    }

    /// The route's name.
    public var route: String
    /// The time of the measurement, by this machine's wall clock.
    public var measuredAt: WallTime
    /// The route's lanes, the more urgent first.
    public var lanes: [Lane]
    /// Entries handed to a connection and not yet durably settled.
    public var inFlight: Int
    /// The most entries in flight: the window.
    public var inFlightLimit: Int
    /// Of ``inFlight``: entries whose token the service called bad, and that are not decided yet.
    public var suspects: Int
    /// The number of connections that take hand-outs.
    public var connections: Int
    /// The most connections: ``Route/connections``.
    public var connectionLimit: Int
    /// Whether the service throttles the route, or is unavailable.
    public var isThrottled: Bool
    /// The rate that the throttling service was measured to grant, in notifications a second; `nil` while unknown.
    public var grantedRate: Double?
    /// Outcomes of the whole journal that wait to be taken.
    public var outcomes: Int
    /// Recipients on the journal's blacklist.
    public var blacklist: Int
    /// Places where the journal's blacklist is damaged; see ``EngineStatus/blacklistDamage``.
    public var blacklistDamage: Int
    /// Entries of the whole journal in quarantine, because their records cannot be read.
    public var quarantined: Int
    /// Entries of the whole journal that silence has confirmed, kept in case a late error revokes that.
    public var aside: Int
    /// Unconfirmed entries of the whole journal that wait for the time from which they may be delivered.
    public var scheduled: Int
    /// Unconfirmed entries of the whole journal that a pause of their tag holds.
    public var heldByTag: Int

    package init(
        route: String, measuredAt: WallTime, lanes: [Lane] = [], inFlight: Int = 0, inFlightLimit: Int = 0,
        suspects: Int = 0, connections: Int = 0, connectionLimit: Int = 1, isThrottled: Bool = false,
        grantedRate: Double? = nil, outcomes: Int = 0, blacklist: Int = 0, blacklistDamage: Int = 0,
        quarantined: Int = 0, aside: Int = 0, scheduled: Int = 0, heldByTag: Int = 0
    ) {
        self.inFlightLimit = inFlightLimit
        self.isThrottled = isThrottled
        self.grantedRate = grantedRate
        self.heldByTag = heldByTag
        self.scheduled = scheduled
        self.quarantined = quarantined
        self.aside = aside
        self.route = route
        self.measuredAt = measuredAt
        self.lanes = lanes
        self.inFlight = inFlight
        self.suspects = suspects
        self.connections = connections
        self.connectionLimit = connectionLimit
        self.outcomes = outcomes
        self.blacklist = blacklist
        self.blacklistDamage = blacklistDamage
    }
}
