/// The kinds of trouble that a simulation makes. Each seed draws some of them.
package enum Trouble: String, CaseIterable, Sendable {
    // The process.
    case crash, crashAgain, shutdown
    // The disk.
    case diskStall, commitFails, undeterminedThere, undeterminedGone, readFails, blacklistWriteFails, appendLimit
    case recordDamaged
    // The clocks.
    case clockForward, clockBack, clockNudge
    // Connections.
    case connectFails, connectSlow, diesKnowing, diesUnknowing, diesEarly, drains, capacityChanges
    // Answers.
    case answerLost, answerLate, refusedStream, expiredProviderToken, strangeStatus
    // The service.
    case wrongEnvironment, credentialsRefused, overload, tooManyRequests, unregistered, badToken, badNotification
    // The binary protocol.
    case errorLate, errorLost, lastGood, processingError, neverIssued, stopsReading, barrierUnanswered
    // Whoever uses it.
    case pauses, lifts, blacklists, registersAgain, submitsAgain, shortLived, oneAttempt, atMostOnce
    case outcomesSlow, outcomesNever
    case withdraws
    case changesCredentials
    case replacesConnector
    // Operators.
    case imports, retriesRejections
    // A stream of urgent ones that does not end.
    case floods
    // A service that takes so many and no more.
    case quota
    // One refusal of the credentials among answers that take them; and topics that are wrong for a while.
    case sporadicForbidden, wrongTopic
    // Leaps of the clock: days, or a year.
    case clockLeaps
    // Another server answers in the service's place, each time with the same status.
    case foreignAnswers
    // Tokens of other apps; and a key that is revoked until another one is put in place.
    case tokenNotForTopic, keyRevoked
    // Updates of live activities, newer and older ones.
    case supersedes
    // Other routes while the engine runs.
    case addsRoute, removesRoute, changesTerms
    // Notifications that end every connection that they go out on.
    case endsConnections
    // A topic of another environment: for a while each of its tokens is called bad, and those of others are not.
    case wrongTokens
    // A topic of which the service answers nothing for a while.
    case silentTopic
    // A topic of which the service refuses all for now, for a while, as if too many were sent.
    case busyTopic

    // Another service than Apple's on the route that comes and goes; and what it does.
    case otherService, otherGone, otherSuspects, otherUnknown, otherBusy, otherStops, otherRegisters
    // Entries that are on its route and for Apple, and the other way round.
    case otherRecipients
    // Notifications that may go from a time on, or at some hours; and of which the newest wins.
    case schedules, deliveryHours, newestWins
    // An operator pauses campaigns by their tags.
    case pausesTags
    // A topic of both environments, with tokens that are good in one of them, and routes that try the other.
    case environments
    // The journal's store is away, or its owner stands still, and another host takes the journal.
    case takesOver

    /// Troubles of another service, drawn from dice of their own.
    static let other: [Trouble] = [
        .otherService, .otherGone, .otherSuspects, .otherUnknown, .otherBusy, .otherStops, .otherRegisters,
        .otherRecipients,
    ]

    /// Choices of senders, drawn from a copy of those dice.
    static let choices: [Trouble] = [.schedules, .deliveryHours, .newestWins, .pausesTags, .environments]

    /// Of journals that several hosts reach, drawn from another copy.
    static let owners: [Trouble] = [.takesOver]

    /// Those that came later than the others, in the order in which they are drawn.
    static let later: [Trouble] = [
        .imports, .retriesRejections, .floods, .quota, .sporadicForbidden, .wrongTopic, .clockLeaps,
        .foreignAnswers,
    ]

    /// Those that came last, drawn behind everything else.
    static let latest: [Trouble] = [
        .tokenNotForTopic, .keyRevoked, .supersedes, .addsRoute, .removesRoute, .changesTerms, .endsConnections,
        .wrongTokens, .silentTopic, .busyTopic,
    ]

    /// Index in ``allCases``.
    var index: Int { Self.indices[self] ?? 0 }

    private static let indices = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })
}
