/// Refusals for now, which the route's throttle judges with the rest of a turn's answers.
extension SettlementPlan {
    /// Counts the answer for the throttle.
    ///
    /// - Returns: whether the answer is a refusal for now, which is kept until the throttle has judged.
    mutating func holdsBack(_ result: SendResult, for flight: SentWindow.Flight, ticket: Ticket) -> Bool {
        switch result.verdict {
        case .confirmed, .rejected, .laneStopped:
            answers.granted += 1
            return false
        case .neverProcessed, .unknown, .foreign, .deferred(.credentials):
            answers.others += 1
            return false
        case .deferred(.token), .deferred(.service):
            answers.count(refusal: result)
            refusals.append((ticket, flight, result))
            return true
        }
    }

    /// The refusal is the service's, and says nothing of the notification: it waits among the deferred, its attempts untouched.
    /// Its age ends it, and its expiration, but no number of refusals.
    mutating func waitForService(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, result: SendResult, retry: RetrySchedule,
        until due: WallTime, wall: WallTime
    ) {
        let key = EntryKey(lane: lane, uid: flight.uid)
        let possiblySent = result.mayHaveBeenTaken || flight.possiblySentBefore
        if flight.hasOneAttempt, possiblySent { return giveUpAsUnknown(key, ticket: ticket) }
        guard age(of: flight, wall: wall) <= retry.greatestAge else {
            return reject(key, ticket: ticket, reason: .expired, possiblySent: possiblySent, wall: wall)
        }
        wait(
            flight, ticket: ticket, lane: lane, until: due, reason: result.reason ?? .serviceUnavailable,
            possiblySent: possiblySent)
        counts.deferred += 1
    }
}

extension SendResult {
    /// Whether a refusal for now speaks of how much is sent, and not of a failure.
    fileprivate var isAboutLoad: Bool { verdict == .deferred(.token) || status == 429 || retryAfter != nil }
}

extension RouteThrottle.Answers {
    mutating func count(refusal result: SendResult) {
        if result.isAboutLoad { throttled += 1 } else { unavailable += 1 }
        if let wait = result.retryAfter { retryAfter = max(retryAfter ?? .zero, wait) }
    }
}
