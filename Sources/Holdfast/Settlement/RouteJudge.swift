/// Decides about the entries of one route: which must not go out, and what answers lead to.
///
/// Events and moments come in, and one ``SettlementPlan`` for each connection goes out; the caller performs it. No clock
/// is read here, no journal, no connection: what has to be read from an entry, its token or topic, is asked for by the plan
/// and comes back as ``Evidence``.
///
/// Confined to the thread that runs the route's turns.
final class RouteJudge {
    let lanes: LaneTable
    let jitter: Jitter
    private(set) var configuration: EngineConfiguration
    let confirmationMode: ConfirmationMode
    /// The push service, by its ``Connector/serviceIdentity``.
    let service: String
    var breakers: TopicBreakers
    /// Tokens and topics of all suspects; nothing else of that topic goes to them meanwhile.
    var suspectTokens: Set<TokenOfTopic> = []
    var credentialTrial: CredentialTrial
    var credentialTopics = CredentialTopics()
    var foreignTopics = ForeignTopics()
    var silence = TopicSilence()
    var topicRefusals = TopicRefusals()
    var refusalShares = RefusalShares()
    var topicHold: TopicHold
    var tagHold: TagHold
    var throttle: RouteThrottle
    /// Since when the service throttles; nil while it does not.
    var throttled: EngineStatus.Throttle?
    /// All answers so far, each notification's own: see ``ServiceReach``.
    var answerCount = 0
    /// The entry that the service refused for now last.
    var lastRefused: EntryKey?
    var refusedEntries = RefusedEntries()
    var caution = Caution()
    var clockHold = ClockHold()
    /// The opinion of the wall clock in this turn.
    var clock = ClockTrust.Reading(
        isTrusted: false, distrustedUntil: nil, earliest: WallTime(milliseconds: 0), memory: nil)

    /// - Parameter proven: topics that have proven themselves, in this process or an earlier one.
    init(
        _ lanes: LaneTable, configuration: EngineConfiguration, connector: any Connector, proven: ProvenTopics,
        throttle: RouteThrottle, jitter: Jitter, now: Duration
    ) {
        self.lanes = lanes
        self.jitter = jitter
        self.configuration = configuration
        confirmationMode = connector.confirmationMode
        service = connector.serviceIdentity
        self.throttle = throttle
        breakers = TopicBreakers(
            policy: configuration.suspects, proven: proven,
            suspicion: connector.limits.service?.advice?.suspicion ?? CircuitBreaker.suspicion)
        credentialTrial = CredentialTrial(policy: configuration.credentials)
        topicHold = TopicHold(policy: configuration.topics, lanes: lanes.count, now: now)
        tagHold = TagHold(lanes: lanes.count)
    }

    /// Works on by other terms.
    func change(to configuration: EngineConfiguration, at now: Moment) {
        self.configuration = configuration
        throttle.change(to: configuration.throttle, window: configuration.window)
        breakers.policy = configuration.suspects
        credentialTrial.policy = configuration.credentials
        topicHold.policy = configuration.topics
        topicHold.hurry(at: now)
    }

    /// The connector sends with other credentials: nothing is known of them.
    func credentialsChanged(at now: Moment) {
        credentialTrial.begin()
        credentialTopics.begin()
        topicHold.hurry(at: now)
    }

    /// - Returns: a plan that ages entries by this turn's opinion of the clock.
    func newPlan(at now: Moment) -> SettlementPlan {
        var plan = SettlementPlan()
        plan.ticks = AnswerClock.ticks(now.monotonic)
        plan.earliestNow = clock.earliest
        return plan
    }

    /// The longest that a deferred entry waits for its turn.
    var greatestWait: Duration { max(configuration.retry.maximum, WallClockGuard.distrust) }

    /// Whose word a connection brings. Where only errors are answered, each of them ends its connection: that is the route's.
    func voice(of connection: Int) -> Int {
        confirmationMode == .perNotification ? connection : ServiceVoices.nobody
    }
}
