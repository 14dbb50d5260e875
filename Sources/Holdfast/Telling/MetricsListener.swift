/// Hears what an engine does, in figures, as it does it: for metrics of your own beside swift-metrics.
///
///     final class MyMetrics: MetricsListener {
///         func rejected(_ count: Int, reason: Reason, route: String) { rejections.add(count, reason.rawValue) }
///     }
///     let engine = try PushEngine(journal: journal, routes: routes, listeners: [MyMetrics()])
///
/// Each method says how many at once: what one turn, one commit or one call of `submit` brought. All do nothing by
/// default.
///
/// **A method must not block**, nor call the engine or its journal: it is called on the engine's own threads, which do
/// nothing else meanwhile. Add to counters, or hand over to a thread of yours. A call that takes longer than
/// ``EngineConfiguration/listenerLimit`` is logged as a warning that names the listener.
///
/// Threads: ``accepted(_:)`` and ``committed(_:)`` come on the journal's thread, ``refused(_:reason:)`` there or on that
/// of the caller of `submit`, all others on the route's. So one listener is called by several threads at a time.
///
/// What is told of answers is told when they are taken in, a commit before they are durable. After a crash the journal's
/// totals count, not these: ``JournalStatus/totals``.
public protocol MetricsListener: Sendable {
    /// Notifications are on disk. Repeats of earlier ones are not counted.
    func accepted(_ count: Int)
    /// `submit` has not taken notifications. `reason` is Apple's word or ours.
    func refused(_ count: Int, reason: Reason)

    /// Entries were handed to a connection; one that goes again counts again.
    ///
    /// - Parameter possibleDuplicates: those of them of which an earlier attempt may have been taken.
    func sent(_ count: Int, possibleDuplicates: Int, route: String)
    /// Answers have come, on connections that answer each notification.
    func answered(_ times: AnswerTimes, route: String)

    func confirmed(_ count: Int, by basis: ConfirmationBasis, route: String)
    /// Refused for good, by the service or by us. `reason` may be any word that a service says, of any length: bound it
    /// before you keep something for each.
    func rejected(_ count: Int, reason: Reason, route: String)
    /// Over before they were sent.
    func expired(_ count: Int, route: String)
    /// Possibly sent, and never to be sent again.
    func unknown(_ count: Int, route: String)
    /// Taken back before they were sent.
    func withdrawn(_ count: Int, route: String)
    /// Answered "not now", or with nothing known: they go again after a while.
    func deferred(_ count: Int, route: String)
    /// Back in their lanes, unharmed.
    func requeued(_ count: Int, route: String)
    /// Entries that silence had confirmed, and that a late error denies in time: they go again, or are rejected by name.
    func recalled(_ count: Int, route: String)
    /// Entries that silence had confirmed, and that a late error denies when nothing of them is kept any more.
    func wronglyConfirmed(_ count: Int, route: String)

    func connectionOpened(route: String)
    /// No connection came about. It is tried again.
    func connectionFailed(_ error: ConnectError, route: String)
    /// - Parameter cause: nil for an end that was asked for.
    func connectionClosed(cause: String?, route: String)

    /// A commit of the journal is on disk.
    func committed(_ commit: CommitMeasure)
    func laneStateChanged(_ lane: LaneKey, to state: LaneState)
    /// The route hands out nothing for the moment, for this reason; nil when it does again.
    func holdChanged(_ hold: HoldReason?, route: String)
    /// How full everything is: at once, and then every ``EngineConfiguration/measureInterval`` while anything happens or
    /// waits.
    func measured(_ levels: RouteLevels)
}

extension MetricsListener {
    public func accepted(_ count: Int) {}
    public func refused(_ count: Int, reason: Reason) {}
    public func sent(_ count: Int, possibleDuplicates: Int, route: String) {}
    public func answered(_ times: AnswerTimes, route: String) {}
    public func confirmed(_ count: Int, by basis: ConfirmationBasis, route: String) {}
    public func rejected(_ count: Int, reason: Reason, route: String) {}
    public func expired(_ count: Int, route: String) {}
    public func unknown(_ count: Int, route: String) {}
    public func withdrawn(_ count: Int, route: String) {}
    public func deferred(_ count: Int, route: String) {}
    public func requeued(_ count: Int, route: String) {}
    public func recalled(_ count: Int, route: String) {}
    public func wronglyConfirmed(_ count: Int, route: String) {}
    public func connectionOpened(route: String) {}
    public func connectionFailed(_ error: ConnectError, route: String) {}
    public func connectionClosed(cause: String?, route: String) {}
    public func committed(_ commit: CommitMeasure) {}
    public func laneStateChanged(_ lane: LaneKey, to state: LaneState) {}
    public func holdChanged(_ hold: HoldReason?, route: String) {}
    public func measured(_ levels: RouteLevels) {}
}

/// How long answers took, from the hand-out to the connection until the engine took them in. Answers of one turn.
public struct AnswerTimes: Hashable, Sendable {
    /// Answers, those included that only say that a notification was given up.
    public var count = 0
    /// Of all of them together, each to a tenth of a millisecond.
    public var total = Duration.zero
    public var greatest = Duration.zero

    package init(count: Int = 0, total: Duration = .zero, greatest: Duration = .zero) {
        self.count = count
        self.total = total
        self.greatest = greatest
    }

    /// Nil where there were none.
    public var mean: Duration? { count > 0 ? total / count : nil }

    mutating func add(_ other: AnswerTimes) {
        count += other.count
        total += other.total
        greatest = max(greatest, other.greatest)
    }
}

/// How full a route is, and its journal, as of one moment.
public struct RouteLevels: Hashable, Sendable {
    public struct Lane: Hashable, Sendable {
        public var key: LaneKey
        public var state: LaneState
        /// Unconfirmed entries, deferred ones included.
        public var depth: Int
        /// When the first of its entries was accepted, deferred ones not included; nil when there is none, or the journal
        /// could not be read.
        public var oldestAcceptedAt: WallTime?

        package init(key: LaneKey, state: LaneState, depth: Int, oldestAcceptedAt: WallTime? = nil) {
            self.key = key
            self.state = state
            self.depth = depth
            self.oldestAcceptedAt = oldestAcceptedAt
        }
    }

    public var route: String
    public var measuredAt: WallTime
    /// The more urgent first.
    public var lanes: [Lane]
    /// Handed to a connection and not yet durably settled.
    public var inFlight: Int
    /// Of them, called bad and not judged yet.
    public var suspects: Int
    /// That take hand-outs.
    public var connections: Int
    /// The most that there may be: ``Route/connections``.
    public var connectionLimit: Int
    /// Of the whole journal: outcomes that wait to be taken.
    public var outcomes: Int
    /// Of the whole journal: tokens on the blacklist.
    public var blacklist: Int
    /// Of the whole journal: places at which the blacklist is damaged; see ``EngineStatus/blacklistDamage``.
    public var blacklistDamage: Int
    /// Of the whole journal: entries whose records cannot be read.
    public var quarantined: Int
    /// Of the whole journal: entries that silence has confirmed, kept aside in case a late error denies them.
    public var aside: Int

    package init(
        route: String, measuredAt: WallTime, lanes: [Lane] = [], inFlight: Int = 0, suspects: Int = 0,
        connections: Int = 0, connectionLimit: Int = 1, outcomes: Int = 0, blacklist: Int = 0, blacklistDamage: Int = 0,
        quarantined: Int = 0, aside: Int = 0
    ) {
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
