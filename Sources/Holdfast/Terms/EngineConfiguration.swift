/// The engine's named bounds, each with its default.
public struct EngineConfiguration: Hashable, Sendable {
    /// The most entries of a route that are in flight: handed to a connection and not yet durably settled. It bounds
    /// what a crash can send twice. Default: 2000.
    public var window = 2000
    /// The same for each connection of a route whose service answers errors only: there an entry stays in flight until
    /// silence, a later error or a barrier confirms it. A route has at most so many times ``Route/connections`` in
    /// flight. Default: 1,000,000.
    public var cumulativeWindow = 1_000_000
    /// How long a barrier's answer is waited for. Default: 30 s.
    public var barrierLimit: Duration = .seconds(30)
    /// On a route on which silence counts for nothing: how long after the last notification a barrier is sent.
    /// Default: 5 s.
    public var barrierIdle: Duration = .seconds(5)
    /// How long an error may come after silence has confirmed what it denies: until then those entries are kept aside on
    /// disk, from where a late error recalls them. They are out of the queue and of the backlog, and their outcome is
    /// told when their time is over. Default: 10 minutes; zero for not at all.
    public var lateErrorPeriod: Duration = .seconds(10 * 60)
    /// The most entries of the journal that are kept aside; then the oldest count as confirmed. Default: 1,000,000.
    public var lateErrorLimit = 1_000_000
    /// For how long one without an expiration is tried, counted from acceptance; the service is told none. Default: 24 hours.
    public var defaultLifetime: Duration = .seconds(24 * 60 * 60)
    /// The most notifications of one commit of `submit`; a larger batch is split. Default: 5000.
    public var submissionChunk = 5000
    /// What `submit` does while the journal is full. Default: refuse.
    public var whenFull = WhenFull.refuse
    /// Whether an update of a live activity that still waits is taken back when a newer one of the same activity has been
    /// accepted; its outcome is *withdrawn*, or *unknown* where it may have been sent. Starts and ends always go. Default: no.
    public var supersedesLiveActivities = false
    /// The backoff of entries that the service answers with "not now", and when they are given up.
    public var retry = RetrySchedule()
    /// How tokens are judged that the service calls bad, which a wrong environment makes it say of all.
    public var suspects = SuspectPolicy()
    /// When credentials that have worked are taken for refused, which stops their route's lanes.
    public var credentials = CredentialPolicy()
    /// How topics are set aside that the service refuses.
    public var topics = TopicPolicy()
    /// When a lane that stopped by itself, or a topic that the service refuses, is tried again with one entry.
    public var probes = ProbeSchedule()
    /// How a route goes on while its service throttles or is unavailable.
    public var throttle = ThrottlePolicy()
    /// How long nothing is sent after `TooManyProviderTokenUpdates`. Default: 20 minutes, which is Apple's own limit.
    public var park: Duration = .seconds(20 * 60)
    /// The upper bound of the wait before a connection is tried again, after the first failure and at most; full jitter.
    public var reconnectMinimum: Duration = .seconds(1)
    /// The upper bound of every wait before a connection is tried again, with full jitter. Default: 60 s.
    public var reconnectMaximum: Duration = .seconds(60)
    /// How often a route whose service answers each notification makes a connection, but for ``reconnectEarned``: one
    /// each … Default: 10 s; zero for as often as is wanted.
    public var reconnectInterval: Duration = .seconds(10)
    /// … after the first so many, so that a service which ends several connections in a short time is followed at once.
    /// At least 1. Default: 10.
    public var reconnectBurst = 10
    /// A connection that confirmed at least so many notifications, and that the service then ended in an orderly way (a
    /// GOAWAY), does not count. Services of one's own end connections after so many requests. Default: 100.
    public var reconnectEarned = 100
    /// How long a graceful shutdown waits for what is in flight. What is not answered by then stays in the journal.
    /// Default: 10 s.
    public var shutdownLimit: Duration = .seconds(10)
    /// How long a settlement that the journal could not write waits before it is tried again. Default: 250 ms.
    public var settlementRetry: Duration = .milliseconds(250)
    /// Whether each outcome is kept in the journal until it is taken from ``PushEngine/outcomes``. Default: no, since
    /// somebody must take them.
    public var keepsOutcomes = false
    /// The most outcomes that wait to be taken, together with what is in flight; then hand-out holds. (What operators
    /// withdraw is not held back by it.) Default: 1,000,000.
    public var outcomeLimit = 1_000_000
    /// How long rejections are kept, and how many at most. Default: 30 days, 100,000.
    public var rejectionAge: Duration = .seconds(30 * 24 * 60 * 60)
    /// The most rejections that are kept; the oldest are deleted first. Default: 100,000.
    public var rejectionLimit = 100_000
    /// Whether a notification that comes again with the apns-id its sender gave it is recognised as the same one.
    /// Default: yes. Notifications without an apns-id cost nothing.
    public var remembersIDs = true
    /// For how long after acceptance, and how many at most. Default: 24 hours, 1,000,000.
    public var identityAge: Duration = .seconds(24 * 60 * 60)
    /// The most apns-ids that are remembered; the oldest are forgotten first. Default: 1,000,000.
    public var identityLimit = 1_000_000
    /// How often what is too old or too many is looked for. Default: 60 s.
    public var housekeeping: Duration = .seconds(60)
    /// How often the engine logs a line on how it does: connections, queue, what was sent, confirmed and failed, mean
    /// times. At least 1 s; nil for never. Of an engine at rest it reports once. Default: 5 minutes.
    public var reportInterval: Duration? = .seconds(5 * 60)
    /// From one log line of a kind to the next, for what trouble may say again and again; what was left out is counted.
    /// Zero logs all of it. Default: 60 s.
    public var logInterval: Duration = .seconds(60)
    /// How often depths, ages and the like are measured, while anything happens or waits. Default: 10 s.
    public var measureInterval: Duration = .seconds(10)
    /// How long a ``MetricsListener`` may take over a call before a warning says that it holds up the engine.
    /// Default: 10 ms.
    public var listenerLimit: Duration = .milliseconds(10)

    /// Creates a configuration with the default of each setting.
    public init() {}

    /// This configuration, with those settings of `present` that an engine keeps for its life: see
    /// ``PushEngine/reconfigure(routes:configuration:)``.
    func keepingWhatIsForLife(of present: EngineConfiguration) -> EngineConfiguration {
        var kept = self
        kept.keepsOutcomes = present.keepsOutcomes
        kept.logInterval = present.logInterval
        kept.measureInterval = present.measureInterval
        kept.listenerLimit = present.listenerLimit
        return kept
    }

    /// Whether a late error can recall anything.
    var keepsAside: Bool { lateErrorPeriod > .zero && lateErrorLimit > 0 }

    var reconnectSchedule: ReconnectSchedule {
        ReconnectSchedule(minimum: reconnectMinimum, maximum: reconnectMaximum)
    }

    /// On routes whose service answers errors only each error costs a connection: there it is the protocol's own way.
    func reconnectBudget(for mode: ConfirmationMode) -> RateLimit? {
        guard mode == .perNotification, reconnectInterval > .zero else { return nil }
        return RateLimit(perSecond: .seconds(1) / reconnectInterval, burst: max(reconnectBurst, 1))
    }
}

/// What `submit` does while the journal is full: its limit is reached, or the disk's.
public enum WhenFull: Hashable, Sendable {
    /// Refuses at once, with reason ``Reason/journalFull``.
    case refuse
    /// Waits for room, and refuses after that time. For the `async` calls of ``Producer``; those with a completion always
    /// refuse at once, since event loops must not wait.
    case wait(atMost: Duration)
}
