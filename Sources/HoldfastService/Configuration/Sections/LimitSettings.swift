package import Holdfast

/// `limits:` — the engine's named bounds.
package struct LimitSettings: Equatable, Sendable {
    package var engine: EngineConfiguration
    /// `nil` for never.
    package var giveUpAfter: Duration?

    private static let long: Duration = .seconds(100 * 24 * 3600)
    private static let short: Duration = .milliseconds(1)

    package static let section = ConfigSection(
        name: "limits", meaning: "the engine's bounds, each with a default that needs no care",
        keys: [
            ConfigKey(
                "window", .count(1...1_000_000), default: "2000",
                "notifications of a route that are in flight at a time: what a crash can send twice"),
            ConfigKey(
                "cumulative-window", .count(1...10_000_000), default: "1000000",
                "the same on the binary protocol, for each connection"),
            ConfigKey(
                "default-lifetime", .duration(.seconds(1)...long), default: "24h",
                "for how long one without an expiration is tried, from acceptance on; the service is told none"),
            ConfigKey(
                "default-environment", .choice(PushEnvironment.allCases.map(\.rawValue)), default: "production",
                "where one goes that names no environment, if a route of each serves its topic"),
            ConfigKey(
                "give-up-after", .duration(short...long),
                "`send` and `recover` end with code 75 when the service was away, or what is left was tried in vain, for so "
                    + "long in one piece; without it, never"
            ),
            ConfigKey(
                "shutdown-limit", .duration(.zero...(.seconds(24 * 3600))), default: "10s",
                "how long an orderly end waits for what is in flight; what is not answered by then stays in the journal"
            ),
            ConfigKey(
                "submission-chunk", .count(1...100_000), default: "5000",
                "notifications of one commit of `submit`; a larger batch is split"),
            ConfigKey(
                "retry.minimum", .duration(short...(.seconds(3600))), default: "1s",
                "upper bound of the first wait before a notification goes again that was refused for now"),
            ConfigKey(
                "retry.maximum", .duration(short...long), default: "15m",
                "upper bound of every such wait; a Retry-After is honoured for so long at most"),
            ConfigKey(
                "retry.doublings", .count(0...30), default: "10", "how often that upper bound doubles at most"),
            ConfigKey(
                "retry.count", .count(1...1_000_000), default: "100",
                "attempts that came to nothing, beyond which a notification is given up as `TooManyAttempts`"),
            ConfigKey(
                "retry.age", .duration(.seconds(1)...long), default: "3d",
                "age beyond which it is not put off once more"),
            ConfigKey(
                "reconnect.minimum", .duration(short...(.seconds(3600))), default: "1s",
                "upper bound of the wait after a first failure to connect"),
            ConfigKey(
                "reconnect.maximum", .duration(short...(.seconds(24 * 3600))), default: "60s",
                "upper bound of every such wait"),
            ConfigKey(
                "reconnect.interval", .duration(.zero...(.seconds(3600))), default: "10s",
                "a route of HTTP/2 makes one connection in this time at most …"),
            ConfigKey(
                "reconnect.burst", .count(1...10_000), default: "10",
                "… after the first so many, which come as they are needed"),
            ConfigKey(
                "reconnect.earned", .count(1...1_000_000), default: "100",
                "a connection that confirmed so many, and that the service ended by GOAWAY, does not count"),
            ConfigKey(
                "supersede-live-activities", .flag, default: "false",
                "whether a waiting update of a live activity is superseded when a newer one has been accepted"),
            ConfigKey(
                "suspects.hold", .duration(short...(.seconds(3600))), default: "5s",
                "how long a token that was called bad waits for its judgement"),
            ConfigKey(
                "suspects.held", .count(1...100_000), default: "100",
                "from how many of a topic they are judged before that, by the answers to what was sent after theirs"),
            ConfigKey(
                "suspects.trip-share", .share(0.01...1), default: "0.75",
                "share of such answers from which on the topic, and not the tokens, is wrong and is set aside"),
            ConfigKey(
                "suspects.allowance", .count(0...100_000), default: "9",
                "tokens convicted since something of the topic was last confirmed, which are tolerated at any share"),
            ConfigKey(
                "suspects.allowance-unproven", .count(0...100_000), default: "2",
                "entries of a topic of which nothing was confirmed yet that are tried without a pause; no token is convicted"
            ),
            ConfigKey(
                "probes.minimum", .duration(short...(.seconds(3600))), default: "1s",
                "upper bound of the pause before a lane that stopped by itself, or a topic that is set aside, is tried again "
                    + "with one entry"),
            ConfigKey(
                "probes.maximum", .duration(short...(.seconds(24 * 3600))), default: "10m",
                "upper bound of every such pause"),
            ConfigKey(
                "probes.answer", .duration(.milliseconds(100)...(.seconds(3600))), default: "60s",
                "how long the answer to such an entry is waited for before another one is tried"),
            ConfigKey(
                "credentials.refusals", .count(1...1_000_000), default: "100",
                "refusals of credentials that have worked, nothing confirmed in between, after which the route stops at once"
            ),
            ConfigKey(
                "credentials.silence", .duration(.zero...(.seconds(3600))), default: "10s",
                "when nothing was confirmed for so long, fewer are enough …"),
            ConfigKey("credentials.refusals-in-silence", .count(1...1_000_000), default: "3", "… which is so many"),
            ConfigKey(
                "credentials.pause", .duration(short...(.seconds(3600))), default: "10s",
                "upper bound of the wait of a notification that was refused with credentials that are not convicted"),
            ConfigKey(
                "topics.held", .count(1...100_000), default: "1000",
                "topics of a route that are set aside at most; notifications of further ones wait one by one"),
            ConfigKey(
                "topics.sweep", .duration(.seconds(1)...(.seconds(24 * 3600))), default: "1h",
                "how often what waits for its topic is looked through for what has expired"),
            ConfigKey(
                "late-errors.period", .duration(.zero...(.seconds(24 * 3600))), default: "10m",
                "binary protocol with `confirm: quiet`: how long what silence has confirmed is kept aside, so that an error "
                    + "that comes late can bring it back; `0s` for not at all"),
            ConfigKey(
                "late-errors.count", .count(0...100_000_000), default: "1000000",
                "notifications of the journal that are kept aside at most; then the oldest count as confirmed"),
            ConfigKey(
                "suspects.uniform", .count(1...10_000_000), default: "500",
                "rejections for one reason in a row, nothing confirmed in between, after which the lane stops"),
            ConfigKey(
                "throttle.minimum", .duration(.milliseconds(10)...(.seconds(3600))), default: "1s",
                "the pause after a service has refused for now, at most; doubled with each probe that is refused"),
            ConfigKey(
                "throttle.maximum", .duration(.milliseconds(10)...(.seconds(24 * 3600))), default: "60s",
                "the greatest such pause"),
            ConfigKey(
                "throttle.first-burst", .count(1...10_000_000), default: "16",
                "the most in flight of a route that begins; doubled with each batch that is answered"),
            ConfigKey(
                "park", .duration(.zero...(.seconds(24 * 3600))), default: "20m",
                "how long nothing is sent after `TooManyProviderTokenUpdates`"),
            ConfigKey(
                "barrier.limit", .duration(short...(.seconds(3600))), default: "30s",
                "how long the answer to a barrier is waited for (binary protocol)"),
            ConfigKey(
                "barrier.idle", .duration(short...(.seconds(3600))), default: "5s",
                "how long after the last notification a barrier is sent"),
            ConfigKey(
                "settlement-retry", .duration(short...(.seconds(3600))), default: "250ms",
                "how long a settlement that the journal could not write waits before it is tried again"),
            ConfigKey(
                "rejections.age", .duration(.seconds(1)...(.seconds(3650 * 24 * 3600))), default: "30d",
                "how long rejections are kept"),
            ConfigKey(
                "rejections.count", .count(0...100_000_000), default: "100000", "how many rejections are kept at most"),
            ConfigKey(
                "ids.remember", .flag, default: "true",
                "whether a notification that comes again with the apns-id its sender gave it is recognised"),
            ConfigKey(
                "ids.age", .duration(.seconds(1)...long), default: "24h", "for how long after its acceptance"),
            ConfigKey(
                "ids.count", .count(0...100_000_000), default: "1000000",
                "how many ids are remembered at most; fewer where they would take more than a quarter of `journal.limit`"
            ),
            ConfigKey(
                "housekeeping", .duration(.milliseconds(100)...(.seconds(24 * 3600))), default: "60s",
                "how often what is too old or too many is looked for"),
            ConfigKey(
                "measure-interval", .duration(.seconds(1)...(.seconds(3600))), default: "10s",
                "how often depths and ages are measured, while anything happens or waits"),
        ],
        check: { items, problems in
            for values in items {
                for group in ["retry", "reconnect", "throttle", "probes"] {
                    let (minimum, maximum) = ("\(group).minimum", "\(group).maximum")
                    guard let least = values.duration(minimum), let greatest = values.duration(maximum),
                        least > greatest
                    else { continue }
                    let key = values.isGiven(minimum) ? minimum : maximum
                    problems.append(
                        values.problem(
                            key,
                            "contradicts: \(minimum) is \(DurationText.text(least)), more than \(maximum), "
                                + DurationText.text(greatest)))
                }
                let (all, few) = ("credentials.refusals", "credentials.refusals-in-silence")
                if let most = values.count(all), let least = values.count(few), least > most {
                    problems.append(
                        values.problem(
                            values.isGiven(few) ? few : all,
                            "contradicts: \(few) is \(least), more than \(all), \(most)"))
                }
            }
        })

    package init(_ values: ConfigValues) {
        var engine = EngineConfiguration()
        func set<Value>(_ path: WritableKeyPath<EngineConfiguration, Value>, _ value: Value?) {
            if let value { engine[keyPath: path] = value }
        }
        set(\.window, values.count("window"))
        set(\.cumulativeWindow, values.count("cumulative-window"))
        set(\.defaultLifetime, values.duration("default-lifetime"))
        set(\.defaultEnvironment, values.text("default-environment").flatMap(PushEnvironment.init))
        set(\.shutdownLimit, values.duration("shutdown-limit"))
        set(\.submissionChunk, values.count("submission-chunk"))
        set(\.retry.minimum, values.duration("retry.minimum"))
        set(\.retry.maximum, values.duration("retry.maximum"))
        set(\.retry.greatestDoublings, values.count("retry.doublings"))
        set(\.retry.greatestCount, values.count("retry.count"))
        set(\.retry.greatestAge, values.duration("retry.age"))
        set(\.reconnectMinimum, values.duration("reconnect.minimum"))
        set(\.reconnectMaximum, values.duration("reconnect.maximum"))
        set(\.reconnectInterval, values.duration("reconnect.interval"))
        set(\.reconnectBurst, values.count("reconnect.burst"))
        set(\.reconnectEarned, values.count("reconnect.earned"))
        set(\.supersedesLiveActivities, values.flag("supersede-live-activities"))
        set(\.suspects.hold, values.duration("suspects.hold"))
        set(\.suspects.greatestHeld, values.count("suspects.held"))
        set(\.suspects.tripShare, values.share("suspects.trip-share"))
        set(\.suspects.allowance, values.count("suspects.allowance"))
        set(\.suspects.allowanceUnproven, values.count("suspects.allowance-unproven"))
        set(\.probes.minimum, values.duration("probes.minimum"))
        set(\.probes.maximum, values.duration("probes.maximum"))
        set(\.probes.answerLimit, values.duration("probes.answer"))
        set(\.credentials.greatestRefusals, values.count("credentials.refusals"))
        set(\.credentials.leastRefusals, values.count("credentials.refusals-in-silence"))
        set(\.credentials.silence, values.duration("credentials.silence"))
        set(\.credentials.pause, values.duration("credentials.pause"))
        set(\.topics.greatestHeld, values.count("topics.held"))
        set(\.topics.sweep, values.duration("topics.sweep"))
        set(\.lateErrorPeriod, values.duration("late-errors.period"))
        set(\.lateErrorLimit, values.count("late-errors.count"))
        set(\.suspects.greatestUniform, values.count("suspects.uniform"))
        set(\.throttle.minimumPause, values.duration("throttle.minimum"))
        set(\.throttle.maximumPause, values.duration("throttle.maximum"))
        set(\.throttle.firstBurst, values.count("throttle.first-burst"))
        set(\.park, values.duration("park"))
        set(\.barrierLimit, values.duration("barrier.limit"))
        set(\.barrierIdle, values.duration("barrier.idle"))
        set(\.settlementRetry, values.duration("settlement-retry"))
        set(\.rejectionAge, values.duration("rejections.age"))
        set(\.rejectionLimit, values.count("rejections.count"))
        set(\.remembersIDs, values.flag("ids.remember"))
        set(\.identityAge, values.duration("ids.age"))
        set(\.identityLimit, values.count("ids.count"))
        set(\.housekeeping, values.duration("housekeeping"))
        set(\.measureInterval, values.duration("measure-interval"))
        self.engine = engine
        giveUpAfter = values.duration("give-up-after")
    }
}
