internal import Holdfast

struct WireWithdrawal: Codable, Hashable {
    var withdrawn: Int
    var unknown: Int
    var gone: Int

    init(_ withdrawal: Withdrawal) {
        withdrawn = withdrawal.withdrawn
        unknown = withdrawal.unknown
        gone = withdrawal.gone
    }

    func value() -> Withdrawal { Withdrawal(withdrawn: withdrawn, unknown: unknown, gone: gone) }
}

/// What came of reading a route's credentials again.
struct WireReload: Codable, Hashable {
    var route: String
    /// Absent when they are taken up.
    var failure: String?

    init(_ reload: CredentialReload) {
        route = reload.route
        failure = reload.failure
    }

    func value() -> CredentialReload { CredentialReload(route: route, failure: failure) }
}

/// What became of one rejection; gone when neither is there.
struct WireRetry: Codable, Hashable {
    var rejection: UInt64
    var accepted: UInt64?
    var refused: WireError?

    init(_ retry: Retry) {
        rejection = retry.rejection.rawValue
        switch retry.result {
        case .accepted(let uid): accepted = uid.rawValue
        case .refused(let refusal): refused = WireError(refusal)
        case .gone: break
        }
    }

    func value() -> Retry {
        let result: Retry.Result =
            if let accepted {
                .accepted(UID(accepted))
            } else if let refused {
                .refused(Refusal(Reason(rawValue: refused.code), refused.message))
            } else {
                .gone
            }
        return Retry(rejection: UID(rejection), result: result)
    }
}

struct WireRestored: Codable, Hashable {
    var lane: WireLane
    var producer: String
    var notification: WireNotification
    var acceptedAt: Int64
    var attempts: UInt16
    var isPossiblySent: Bool
    var lastReason: String?
    /// Absent unless it is deferred.
    var dueAt: Int64?
    /// Absent unless it is a rejection.
    var cause: WireCause?
    var retryOf: UInt64?

    init(_ entry: RestoredEntry) {
        lane = WireLane(entry.lane)
        producer = entry.producer
        notification = WireNotification(entry.notification)
        acceptedAt = entry.acceptedAt.milliseconds
        attempts = entry.history.attempts
        isPossiblySent = entry.history.isPossiblySent
        lastReason = entry.history.lastReason?.rawValue
        switch entry.history.place {
        case .waiting: break
        case .deferred(let due): dueAt = due.milliseconds
        case .rejected(let cause): self.cause = WireCause(cause)
        }
        retryOf = entry.retryOf?.rawValue
    }

    func value() throws(ControlError) -> RestoredEntry {
        let place: EntryHistory.Place =
            if let cause {
                .rejected(cause.value())
            } else if let dueAt {
                .deferred(until: WallTime(milliseconds: dueAt))
            } else {
                .waiting
            }
        return RestoredEntry(
            lane: try lane.value(), producer: producer, notification: try notification.value(),
            acceptedAt: WallTime(milliseconds: acceptedAt),
            history: EntryHistory(
                place: place, attempts: attempts, isPossiblySent: isPossiblySent,
                lastReason: lastReason.map(Reason.init(rawValue:))),
            retryOf: retryOf.map { UID($0) })
    }
}
