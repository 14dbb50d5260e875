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

    /// Index in ``allCases``.
    var index: Int { Self.indices[self] ?? 0 }

    private static let indices = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })
}
