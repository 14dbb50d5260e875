/// The engine's settings, each with its default.
public struct EngineConfiguration: Hashable, Sendable {
    /// The most entries of a route in flight: handed to a connection and not yet durably settled. It limits what a crash can
    /// send twice. Default: 2000.
    public var window = 2000
    /// The window of each connection of a route whose service answers errors only. There an entry stays in flight until
    /// silence, a later error or a barrier confirms it. A route has at most this number times ``Route/connections`` in flight.
    /// Default: 1,000,000.
    public var cumulativeWindow = 1_000_000
    /// The timeout of a barrier's answer. Default: 30 s.
    public var barrierLimit: Duration = .seconds(30)
    /// The idle time before a barrier is sent, on a route where silence proves nothing. Default: 5 s.
    public var barrierIdle: Duration = .seconds(5)
    /// How long entries confirmed by silence are kept on disk, so that a late error can recall them. They are out of the queue
    /// and of the backlog, and get their outcome at the end of this time. Default: 10 minutes; zero keeps none.
    public var lateErrorPeriod: Duration = .seconds(10 * 60)
    /// The most entries of the journal kept for ``lateErrorPeriod``; beyond it the oldest count as confirmed.
    /// Default: 1,000,000.
    public var lateErrorLimit = 1_000_000
    /// How long a notification without an expiration is tried, from its acceptance; the service is told none.
    /// Default: 24 hours.
    public var defaultLifetime: Duration = .seconds(24 * 60 * 60)
    /// The environment of notifications that name none, if two routes serve their topic. Default: production.
    public var defaultEnvironment = PushEnvironment.production
    /// The most notifications of one commit of `submit`; a larger batch is split. Default: 5000.
    public var submissionChunk = 5000
    /// The behaviour of `submit` while the journal is full. Default: refuse.
    public var whenFull = WhenFull.refuse
    /// Whether a newer update of a Live Activity replaces a waiting one. The outcome of the older one is *superseded*, or
    /// *unknown* if it may have been sent. Starts and ends are always sent. Default: false.
    public var supersedesLiveActivities = false
    /// The backoff of entries that the service answers with "not now", and when they are given up.
    public var retry = RetrySchedule()
    /// When a token that the service calls bad is blacklisted. In a wrong environment the service says so of every token.
    public var suspects = SuspectPolicy()
    /// When credentials that have worked count as refused, which stops their route's lanes.
    public var credentials = CredentialPolicy()
    /// The limits of setting topics aside that the service refuses.
    public var topics = TopicPolicy()
    /// When a lane that stopped by itself, or a topic that the service refuses, is probed with one entry.
    public var probes = ProbeSchedule()
    /// The pace of a route while its service throttles or is unavailable.
    public var throttle = ThrottlePolicy()
    /// How long nothing is sent after `TooManyProviderTokenUpdates`. Default: 20 minutes, which is Apple's own limit.
    public var park: Duration = .seconds(20 * 60)
    /// The upper bound of the wait after a first failed connection, with full jitter; it doubles up to ``reconnectMaximum``.
    /// Default: 1 s.
    public var reconnectMinimum: Duration = .seconds(1)
    /// The upper bound of every wait before a connection is tried again, with full jitter. Default: 60 s.
    public var reconnectMaximum: Duration = .seconds(60)
    /// The interval between new connections of a route whose service answers each notification, after ``reconnectBurst`` of
    /// them. ``reconnectEarned`` is an exception. Default: 10 s; zero sets no limit.
    public var reconnectInterval: Duration = .seconds(10)
    /// The number of connections that are made without ``reconnectInterval`` between them, in case the service ends several
    /// in a short time. At least 1. Default: 10.
    public var reconnectBurst = 10
    /// The number of confirmations after which a connection does not count for ``reconnectInterval``, if the service then
    /// ends it in an orderly way (a GOAWAY). Some services end connections after a number of requests. Default: 100.
    public var reconnectEarned = 100
    /// How long a graceful shutdown waits for entries in flight. Entries without an answer stay in the journal.
    /// Default: 10 s.
    public var shutdownLimit: Duration = .seconds(10)
    /// The wait before a settlement that the journal could not write is tried again. Default: 250 ms.
    public var settlementRetry: Duration = .milliseconds(250)
    /// Whether each outcome is kept in the journal until it is taken from ``PushEngine/outcomes``, whatever ``history`` is.
    /// Default: false, since the application must take them.
    public var keepsOutcomes = false
    /// How long ended notifications can be found, and read by ``PushEngine/outcomes(reader:of:)``. Default: a day, within
    /// 1 GiB.
    public var history = HistoryPolicy()
    /// The most outcomes that a reader has not taken for which they are kept, plus entries in flight; at the limit nothing is
    /// handed out. (Withdrawals by operators go beyond it.) Default: 1,000,000.
    public var outcomeLimit = 1_000_000
    /// How long rejections are kept. Default: 30 days.
    public var rejectionAge: Duration = .seconds(30 * 24 * 60 * 60)
    /// The most rejections that are kept; the oldest are deleted first. Default: 100,000.
    public var rejectionLimit = 100_000
    /// Whether a notification submitted again with its sender's `apns-id` is recognised as the same one. Default: true.
    /// Notifications without an `apns-id` cost nothing.
    public var remembersIDs = true
    /// How long after acceptance an `apns-id` is remembered. Default: 24 hours.
    public var identityAge: Duration = .seconds(24 * 60 * 60)
    /// The most apns-ids that are remembered; the oldest are forgotten first. The journal remembers fewer where they would take
    /// more than a quarter of its limit, at about 75 bytes each. Default: 1,000,000.
    public var identityLimit = 1_000_000
    /// The interval between deletions of old and surplus records. Default: 60 s.
    public var housekeeping: Duration = .seconds(60)
    /// The interval of the log line that reports connections, queue, counts and mean latencies. At least 1 s; `nil` for none.
    /// An idle engine reports once. Default: 5 minutes.
    public var reportInterval: Duration? = .seconds(5 * 60)
    /// The least interval between two log lines of one kind, for messages that a lasting failure repeats. Suppressed lines are
    /// counted. Zero logs all of them. Default: 60 s.
    public var logInterval: Duration = .seconds(60)
    /// The interval of ``MetricsListener/measured(_:)``, while anything happens or waits. Default: 10 s.
    public var measureInterval: Duration = .seconds(10)
    /// The duration of a ``MetricsListener`` call above which a warning says that it delays the engine. Default: 10 ms.
    public var listenerLimit: Duration = .milliseconds(10)

    /// Creates a configuration with the default of each setting.
    public init() {}

    /// This configuration, with the settings of `present` that an engine cannot change: see
    /// ``PushEngine/reconfigure(routes:configuration:)``.
    func keepingWhatIsForLife(of present: EngineConfiguration) -> EngineConfiguration {
        var kept = self
        kept.keepsOutcomes = present.keepsOutcomes
        kept.logInterval = present.logInterval
        kept.measureInterval = present.measureInterval
        kept.listenerLimit = present.listenerLimit
        return kept
    }

    /// Whether outcomes are written to the journal's log.
    package var logsOutcomes: Bool { keepsOutcomes || history.isKept }

    /// Whether a late error can recall anything.
    var keepsAside: Bool { lateErrorPeriod > .zero && lateErrorLimit > 0 }

    var reconnectSchedule: ReconnectSchedule {
        ReconnectSchedule(minimum: reconnectMinimum, maximum: reconnectMaximum)
    }

    /// The limit on new connections; `nil` if only errors are answered, since there each error costs a connection.
    func reconnectBudget(for mode: ConfirmationMode) -> RateLimit? {
        guard mode == .perNotification, reconnectInterval > .zero else { return nil }
        return RateLimit(perSecond: .seconds(1) / reconnectInterval, burst: max(reconnectBurst, 1))
    }
}

/// The behaviour of `submit` while the journal is full, by its own limit or the disk's. It refuses or waits, so no case is
/// added.
public enum WhenFull: Hashable, Sendable {
    /// Refuses at once, with reason ``Reason/journalFull``.
    case refuse
    /// Waits for room, and refuses after that time. Applies to the `async` calls of ``Producer``; calls with a completion
    /// always refuse at once, since event loops must not wait.
    case wait(atMost: Duration)
}
