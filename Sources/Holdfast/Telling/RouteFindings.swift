/// What may be wrong with a route, as a turn left it.
struct RouteFindings: Hashable, Sendable {
    let route: String
    let endpoint: String
    /// The service's own, for one that is not Apple's.
    var advice: ServiceAdvice?
    var away: ServiceReach.Away?
    /// When a connection may be made; nil while one need not wait, is being made, or is there.
    var nextConnectionAt: WallTime?
    /// Since when the limit on new connections keeps everything waiting; nil while it does not, or not for long.
    var limitedSince: WallTime?
    /// Since when few go at a time, and how many; see ``Caution``.
    var carefulSince: WallTime?
    var carefulLimit: Int?
    var lanes: [StatusBoard.LaneSummary] = []
    var topics: [EngineStatus.Topic] = []
    var throttle: EngineStatus.Throttle?
    /// Whether the throttle holds nothing back: whatever waits does so for another cause.
    var isThrottleIdle = false
    /// When the service took anything of the route last; nil for never, as far as is known.
    var takenAt: WallTime?
    var parking: EngineStatus.Parking?
    var hold: HoldReason?

    /// - Parameters:
    ///   - depth: unconfirmed entries of a lane.
    ///   - now: when what has no time of its own is found.
    func conditions(depth: (LaneKey) -> Int, now: WallTime) -> [HealthCondition] {
        let waiting = lanes.reduce(0) { $0 + depth($1.key) }
        return [
            serviceAway(waiting), limited(waiting), careful(waiting), refused(waiting), throttled(waiting),
            parked(waiting),
            held(waiting, now),
        ]
        .compactMap(\.self)
            + lanes.flatMap { lane($0, depth($0.key), now) } + topics.compactMap { topic($0, waiting, now) }
    }

    private var resumeNow: String { "holdfast lanes resume \(ShellText.word(route)) --now" }

    private func serviceAway(_ waiting: Int) -> HealthCondition? {
        guard let away else { return nil }
        if away.isSilence { return silence(away, waiting) }
        let isMisconfigured = away.error.kind == .configuration
        return HealthCondition(
            // Nothing is held up where nothing waits.
            .serviceAway, isMisconfigured ? .fault : waiting == 0 ? .notice : .warning, "route", route, route: route,
            since: away.since,
            affected: waiting, failures: away.failures, nextTryAt: nextConnectionAt, cause: away.error.message,
            what: away.isConnected
                ? "route \(route) is connected to its push service at \(endpoint) again, and nothing is answered yet; before that: "
                    + "\(away.error)"
                : "route \(route) can't reach its push service at \(endpoint): \(away.error)",
            next: isMisconfigured
                ? "put right what the error names; connections are tried again by themselves, and at once by the command"
                : "see whether the network and the service are there; connections are tried again by themselves, and at "
                    + "once by the command",
            command: "holdfast routes connect \(ShellText.word(route))")
    }

    private func silence(_ away: ServiceReach.Away, _ waiting: Int) -> HealthCondition {
        HealthCondition(
            .serviceAway, waiting == 0 ? .notice : .warning, "route", route, route: route, since: away.since,
            affected: waiting, failures: away.failures, cause: away.error.message,
            what: "route \(route) is connected to its push service at \(endpoint), and \(away.error)",
            next: "look at the push service's status page; what gets no answer until its deadline goes again by itself",
            command: "holdfast doctor")
    }

    /// Where the service is away that is told, and not the limit.
    private func limited(_ waiting: Int) -> HealthCondition? {
        guard let limitedSince, away == nil, waiting > 0 else { return nil }
        return HealthCondition(
            .connectionsLimited, .warning, "route", route, route: route, since: limitedSince, affected: waiting,
            nextTryAt: nextConnectionAt,
            what:
                "route \(route) waits for a new connection to \(endpoint): so many have ended of late that the next one is "
                + "not made before the limit on new connections allows it",
            next:
                "see in the log why connections end; if a service of your own ends them on purpose, raise `limits.reconnect`"
        )
    }

    private func careful(_ waiting: Int) -> HealthCondition? {
        guard let carefulSince, away == nil, waiting > 0 else { return nil }
        let few = carefulLimit.map { $0 == 1 ? "one notification" : "\($0) notifications" } ?? "few notifications"
        return HealthCondition(
            .sendingCarefully, .warning, "route", route, route: route, since: carefulSince, affected: waiting,
            nextTryAt: nextConnectionAt,
            what: "route \(route) sends \(few) at a time: several connections have ended with the same notification "
                + "unanswered, and it is not known yet which one ends them",
            next: "nothing has to be done: the one is found, and the others go; the log names it (`ends-connections`)")
    }

    /// The condition that nothing is taken, where no other one of the route says why: topics that wait, and lanes that stand still, do
    /// not explain it.
    func nothingTaken(_ waiting: Int, since: WallTime, beside others: [HealthCondition]) -> HealthCondition? {
        let explains: [HealthCondition.Kind] = [
            .serviceAway, .connectionsLimited, .sendingCarefully, .credentialsRefused, .wrongServer, .throttled,
            .parked,
            .ownershipUnproven, .outcomesFull, .journalUnreadable,
        ]
        guard waiting > 0, !others.contains(where: { explains.contains($0.kind) && $0.severity != .notice }) else {
            return nil
        }
        return HealthCondition(
            .nothingTaken, .warning, "route", route, route: route, since: since, affected: waiting,
            nextTryAt: nextConnectionAt,
            what:
                "route \(route) has had notifications in their turn since \(Timestamp.format(since)), and its push service at "
                + "\(endpoint) has taken none of them",
            next: "see in the log and in `holdfast lanes list` what the route does; the command tries the service",
            command: "holdfast doctor")
    }

    /// Credentials, or a server in the service's place: one condition for all lanes of the route.
    private func refused(_ waiting: Int) -> HealthCondition? {
        for kind in [HealthCondition.Kind.credentialsRefused, .wrongServer] {
            let stopped = lanes.filter { $0.stop == kind }
            guard let first = stopped.first, case .stopped(let reason, let since) = first.state else { continue }
            let isKey = kind == .credentialsRefused
            return HealthCondition(
                kind, .fault, "route", route, route: route, since: since, affected: waiting, cause: reason,
                what: isKey
                    ? "the push service refuses the credentials of route \(route): \(reason)"
                    : "what answers at \(endpoint) is not the push service of route \(route): \(reason)",
                next: isKey
                    ? advice?.credentialsRefused
                        ?? "see that this machine's clock is right, which dates tokens; if it is, replace the key or certificate of "
                        + "the route, and have it read again"
                    : "look at the address, the name resolution and the proxy of the route, and try again",
                command: isKey ? "holdfast lanes reload" : resumeNow)
        }
        return nil
    }

    /// The condition that the last answers came from another server than the push service, while no lane has stopped for that yet.
    func answeredByOther(_ words: String, since: WallTime, waiting: Int) -> HealthCondition {
        HealthCondition(
            .wrongServer, .warning, "route", route, route: route, since: since, affected: waiting, cause: words,
            what: "what answers at \(endpoint) is not the push service of route \(route) (\(words)), and nothing was "
                + "taken since; such answers settle nothing",
            next: "look at the address, the name resolution and the proxy of the route; notifications are tried again "
                + "by themselves", command: "holdfast doctor")
    }

    private func throttled(_ waiting: Int) -> HealthCondition? {
        guard let throttle, !isThrottleIdle else { return nil }
        var told = throttle
        // Where nothing waits, nothing waits with a topic.
        if waiting == 0 { told.topics = [] }
        // Told beside the words, since it passes.
        told.nextProbeAt = nil
        return HealthCondition(
            // Nothing is held up where nothing waits, and nothing shows whether the service takes more again.
            .throttled, waiting == 0 ? .notice : .warning, "route", route, route: route, since: throttle.since,
            affected: waiting, nextTryAt: throttle.nextProbeAt, cause: throttle.topics.joined(separator: " "),
            what: "route \(route) is \(told)",
            next: told.topics.isEmpty
                ? "nothing has to be done: the route asks for less, and for more again when the service takes it; the command "
                    + "tries at once"
                : "send less of it, or give it a route of its own, so that others do not wait; the command tries at once",
            command: resumeNow)
    }

    private func parked(_ waiting: Int) -> HealthCondition? {
        guard let parking else { return nil }
        return HealthCondition(
            .parked, .fault, "route", route, route: route, since: parking.since, affected: waiting,
            what: "route \(route) is \(parking)",
            next: "find the other process that makes tokens with this key; the command tries at once",
            command: resumeNow)
    }

    private func held(_ waiting: Int, _ now: WallTime) -> HealthCondition? {
        let (kind, severity, next): (HealthCondition.Kind, HealthCondition.Severity, String)
        switch hold {
        case .ownershipUnproven?:
            (kind, severity, next) = (.ownershipUnproven, .warning, "see whether the database answers, and in time")
        case .outcomesFull?:
            (kind, severity, next) = (.outcomesFull, .fault, "see why the application does not take outcomes")
        case .journalUnreadable?:
            (kind, severity, next) = (.journalUnreadable, .fault, "look at the disk, or the database, of the journal")
        // These have conditions of their own, or are over in a moment.
        case .throttled?, .parked?, .payloadError?, nil: return nil
        }
        return HealthCondition(
            kind, severity, "route", route, route: route, since: now, affected: waiting,
            what: "route \(route) hands out nothing: \(hold?.description ?? "")", next: next)
    }

    private func lane(_ lane: StatusBoard.LaneSummary, _ depth: Int, _ now: WallTime) -> [HealthCondition] {
        let name = lane.key.description
        var found: [HealthCondition] = []
        switch lane.state {
        case .paused(let reason, let since):
            found.append(
                HealthCondition(
                    .lanePaused, .notice, "lane", name, route: route, since: since, affected: depth, cause: reason,
                    what: "an operator has paused lane \(name)" + (reason.isEmpty ? "" : ": \(reason)"),
                    next: "resume it when its time has come", command: "holdfast lanes resume \(ShellText.word(name))"))
        case .stopped(let reason, let since) where lane.stop == .laneStopped:
            found.append(
                HealthCondition(
                    .laneStopped, .fault, "lane", name, route: route, since: since, affected: depth,
                    nextTryAt: lane.nextProbeAt, cause: reason, what: "lane \(name) is stopped: \(reason)",
                    next: "mend the cause; one entry is tried now and then, and at once by the command",
                    command: "holdfast lanes resume \(ShellText.word(name)) --now"))
        case .running, .stopped: break
        }
        if min(lane.unreachable, depth) > 0 {
            found.append(
                HealthCondition(
                    .entriesUnreachable, .fault, "lane", name, route: route, since: now, affected: lane.unreachable,
                    what: "a page of the journal is damaged: \(counted(lane.unreachable, "entry", "entries")) of lane "
                        + "\(name) can't be found", next: "stop the service, and copy what is sound into a new journal",
                    command: "holdfast journal verify --salvage NEW"))
        }
        return found
    }

    /// So long after the service has taken something it is believed to take all others.
    private static let belief = Duration.seconds(60)

    /// The words that all but the topics that are set aside go, where nothing speaks against it.
    private func others(_ now: WallTime) -> String {
        guard away == nil, throttle == nil, parking == nil, hold == nil, !lanes.contains(where: { $0.stop != nil }),
            let takenAt, now.since(takenAt) <= Self.belief
        else { return "" }
        return ", and all others go"
    }

    private func topic(_ topic: EngineStatus.Topic, _ waiting: Int, _ now: WallTime) -> HealthCondition? {
        // Nothing is held up where nothing waits; the next probe, which ends it, may be held up by the route's throttle.
        guard waiting > 0 else { return nil }
        let isForTokens = topic.cause == .tokens
        return HealthCondition(
            isForTokens ? .massBadTokens : .topicSetAside, .fault, "topic", topic.topic, route: route,
            since: topic.since, nextTryAt: topic.nextProbeAt, cause: "\(topic.cause)",
            what: isForTokens
                ? "the push service calls most tokens of topic \(topic.topic) on route \(route) bad, so that the topic is set "
                    + "aside\(others(now)): \(topic.reason)"
                : "topic \(topic.topic) is set aside on route \(route)\(others(now)): \(topic.reason)",
            next: advice(about: topic.cause) + "; one entry is tried now and then, and at once by the command",
            command: resumeNow)
    }

    private func advice(about cause: EngineStatus.Topic.Cause) -> String {
        switch cause {
        case .tokens: advice?.recipientsRefused ?? "see whether the route's environment is that of the tokens"
        case .topic: "see whether the credentials are for this topic"
        case .silence: "look at the push service's status page, and at what is special about the topic"
        case .refusals: "see how much is sent to the topic, and look at the push service's status page"
        case .server:
            "see what stands between this host and the push service, and what it does to this topic's requests"
        }
    }
}
