internal import Logging

extension EngineLog {
    /// Writes the line that tells of it, where there is one. From any thread.
    func callAsFunction(_ news: RouteNews, route: String) {
        switch news {
        case .started, .shuttingDown, .holding, .parked, .throttled, .throttleEnded, .clock, .report:
            tellRoute(news, route)
        case .connecting, .connected, .connectFailed, .disconnected, .unconnected, .barrierWritten, .barrierUnanswered,
            .endUnproven, .careful:
            tellConnection(news, route)
        case .laneChanged, .laneProbed, .markMoved, .promoted, .unreachable, .topicSetAside, .topicBack:
            tellLane(news)
        case .handedOut, .settling, .settled, .cleared, .withdrawn, .convicted, .moved, .identified, .endsConnections,
            .trimmed:
            tellEntries(news)
        case .lateError, .impossibleIdentifier, .secondHandOut, .quarantined, .credentialsDoubted,
            .blacklistUnreadable:
            tellTrouble(news)
        case .failed(let attempt, let error): tellFailure(attempt, error)
        // Told as a condition where it lasts.
        case .foreignAnswer, .endsSilent: break
        case .oldestUnread, .journalLost, .journalUnreadable: tellJournal(news)
        }
    }

    private func tellRoute(_ news: RouteNews, _ route: String) {
        switch news {
        case .started(let endpoint, let waiting):
            self(
                .routeStarted, "route \(route) delivers to \(endpoint); \(waiting) wait",
                ["endpoint": .string(endpoint), "depth": .count(waiting)])
        case .shuttingDown(let inFlight):
            self(
                .routeShuttingDown, "route \(route) ends; \(inFlight) in flight get their answers",
                ["in-flight": .count(inFlight)])
        case .holding(let reason?):
            self(.holding, "route \(route) hands out nothing: \(reason)", ["reason": .string(reason.name)])
        case .holding(nil): self(.handingOut, "route \(route) hands out again")
        case .throttled(let throttle, let wait):
            self(
                .throttlePaused, "route \(route) is \(throttle): nothing is sent for \(wait.words), then one probe",
                throttle.metadata(wait: wait))
        case .clock(.unproven(let message)):
            self(.clockUnproven, "\(message): what has expired since waits for \(WallClockGuard.distrust.words)")
        case .report(let report): self(.report, report.message, report.metadata)
        default: break
        }
    }

    private func tellConnection(_ news: RouteNews, _ route: String) {
        switch news {
        case .connected(let number, let endpoint):
            self(
                .connectionOpened, "connected to \(endpoint)",
                ["connection": .count(number), "endpoint": .string(endpoint)])
        case .connectFailed(let error, let endpoint, let wait, isOnly: _):
            self(
                .connectionFailed,
                "no connection to \(endpoint): \(error); trying again in \(wait.words)",
                [
                    "endpoint": .string(endpoint), "reason": .string(error.message), "wait-ms": .milliseconds(wait),
                ])
        case .disconnected(let number, let endpoint, let cause?, isExpected: false):
            self(
                .connectionEnded, "the connection to \(endpoint) ended: \(cause)",
                ["connection": .count(number), "reason": .string(cause)])
        case .disconnected(let number, let endpoint, cause: _, isExpected: _):
            self(.connectionClosed, "the connection to \(endpoint) is closed", ["connection": .count(number)])
        case .barrierWritten(let number):
            self(.barrierWritten, "a barrier is written", ["connection": .count(number)])
        case .barrierUnanswered(let number, let limit):
            self(.barrierUnanswered, "a barrier was not answered within \(limit.words)", ["connection": .count(number)])
        case .endUnproven(let count):
            self(
                .endUnproven,
                "route \(route) ends, and the service did not answer the barrier that was to prove what silence has "
                    + "confirmed: the last \(count) may not have been taken", ["unproven": .count(count)])
        case .careful(let uid, let ends, let cause):
            self(
                .careful,
                "\(ends) connections have ended with entry \(uid) unanswered\(cause.map { " (\($0))" } ?? ""): "
                    + "few entries go at a time, until it shows whether one of them is the cause",
                ["uid": .stringConvertible(uid), "count": .count(ends)])
        default: break
        }
    }

    private func tellLane(_ news: RouteNews) {
        switch news {
        case .laneProbed(let key, let uid):
            self(
                .laneProbed, "the stopped lane \(key) tries entry \(uid)",
                ["lane": .lane(key), "uid": .stringConvertible(uid)])
        case .markMoved(let key, let mark):
            self(
                .markMoved, "the send mark of \(key) is at \(mark)",
                ["lane": .lane(key), "mark": .stringConvertible(mark)])
        case .promoted(let key, let uids):
            guard let first = uids.min(), let last = uids.max() else { return }
            self(
                .promoted, "\(uids.count) deferred entries of \(key) are due",
                ["lane": .lane(key), "count": .count(uids.count), "uids": .uids(first, last)])
        default: break
        }
    }

    private func tellEntries(_ news: RouteNews) {
        switch news {
        case .handedOut(let key, let first, let last, let count, let connection, let possibleDuplicates):
            self(
                .handedOut,
                "\(counted(count, "entry of \(key) goes", "entries of \(key) go")) out on connection \(connection)",
                [
                    "lane": .lane(key), "connection": .count(connection), "count": .count(count),
                    "uids": .uids(first, last), "possible-duplicates": .count(possibleDuplicates),
                ])
        case .settled(let report, let connection):
            self(
                .settled, "\(counted(report.settled, "settlement", "settlements")) of connection \(connection) on disk",
                ["connection": .count(connection), "count": .count(report.settled), "gone": .count(report.gone)])
        case .cleared(let key, let count, let through, let basis):
            self(
                .cleared, "\(counted(count, "entry of \(key) is", "entries of \(key) are")) confirmed by \(basis)",
                [
                    "lane": .lane(key), "count": .count(count), "through": .stringConvertible(through),
                    "by": .string("\(basis)"),
                ])
        case .withdrawn(let withdrawal):
            self(
                .withdrawn,
                "\(counted(withdrawal.withdrawn, "entry is", "entries are")) withdrawn, and \(withdrawal.unknown) that may "
                    + "have been sent \(withdrawal.unknown == 1 ? "is" : "are") unknown",
                ["withdrawn": .count(withdrawal.withdrawn), "unknown": .count(withdrawal.unknown)])
        case .convicted(let key, let count):
            self(
                .convicted,
                "\(counted(count, "token of lane \(key) is", "tokens of lane \(key) are")) blacklisted: called bad by the "
                    + "service",
                ["lane": .lane(key), "count": .count(count)])
        case .moved(let key, let count):
            self(
                .movedToOtherEnvironment,
                "\(counted(count, "entry of lane \(key) is", "entries of lane \(key) are")) tried in the other environment: "
                    + "the token is bad in this one",
                ["lane": .lane(key), "count": .count(count)])
        case .identified(let uid, let uniqueID):
            self(
                .identified, "entry \(uid) is \(uniqueID) to the service",
                ["uid": .stringConvertible(uid), "apns-unique-id": .string(uniqueID)])
        case .endsConnections(let key, let uid, let ends, nextTrial: _, let wait):
            var metadata: Logger.Metadata = [
                "lane": .lane(key), "uid": .stringConvertible(uid), "count": .count(ends),
            ]
            if let wait { metadata["wait-ms"] = .milliseconds(wait) }
            self(
                .endsConnections,
                "entry \(uid) has ended \(ends) connections that carried nothing else, while others are taken: "
                    + (wait.map { "it is tried again, alone, in \($0.words)" } ?? "it is given up"), metadata)
        case .trimmed(let count):
            guard count > 0 else { return }
            self(
                .rejectionsTrimmed,
                "\(counted(count, "rejection was", "rejections were")) too old or too many, and deleted",
                ["count": .count(count)])
        default: break
        }
    }

    private func tellTrouble(_ news: RouteNews) {
        switch news {
        case .lateError(let recalled, let lost):
            let fate =
                lost == 0
                ? "all of them go again"
                : "\(recalled) go again, and \(lost), of which nothing is kept any more, are lost"
            self(
                .lateError,
                "an error came too late: \(recalled + lost) notifications that silence had confirmed were not taken; "
                    + "\(fate). The quiet period is too short", ["count": .count(recalled), "lost": .count(lost)])
        case .impossibleIdentifier:
            self(
                .impossibleIdentifier,
                "the service names a notification that was never sent; nothing can be concluded")
        case .secondHandOut(let key, let count):
            self(
                .secondHandOut,
                "\(count) entries of \(key) are in flight and were not handed out once more: this is a fault of the "
                    + "engine, please report it", ["lane": .lane(key), "count": .count(count)])
        case .quarantined(let key, let uid, let fault):
            self(
                .entryQuarantined,
                "entry \(uid) of \(key) can't be read and is in quarantine: \(fault); see `holdfast journal quarantine`",
                ["uid": .stringConvertible(uid), "lane": .lane(key), "fault": .string("\(fault)")])
        case .credentialsDoubted(let words):
            self(
                .credentialsDoubted,
                "the service refuses credentials with which it takes other notifications; this one goes again later: "
                    + words)
        case .blacklistUnreadable(let recipient, let fault):
            self(
                .blacklistUnreadable,
                "the blacklist's record of \(recipient.noun) \(recipient) can't be read (\(fault)), so what is for it waits; "
                    + "`holdfast blacklist remove` deletes the record, and `blacklist add` writes it anew",
                [recipient.noun: .string("\(recipient)"), "fault": .string("\(fault)")])
        default: break
        }
    }

    private func tellJournal(_ news: RouteNews) {
        switch news {
        case .oldestUnread(let words): self(.oldestUnread, "the age of a lane's first entry can't be read: \(words)")
        case .journalLost(let error) where error.code.isOfOwnership:
            self(
                .journalLeft,
                "the engine ends, and the journal has to be opened anew, as a service does by itself; what was accepted is in the "
                    + "database: \(error)", error.metadata)
        case .journalLost(let error):
            self(
                .journalFailed,
                "the engine ends, since the journal can't be used before it is opened anew; what was accepted is in it: \(error)",
                error.metadata)
        case .journalUnreadable(let error, let inFlight):
            self(
                .journalFailed,
                "the engine ends, since the journal can't be read further; \(inFlight) in flight get their answers first: \(error)",
                error.metadata)
        default: break
        }
    }

    private func tellFailure(_ attempt: RouteNews.Attempt, _ error: JournalError) {
        let again = "and will be tried again: \(error)"
        switch attempt {
        case .reading: self(.readFailed, "the journal can't be read \(again)", error.metadata)
        case .readingTokens:
            self(.tokensUnread, "the tokens of answered entries can't be read \(again)", error.metadata)
        case .settling: self(.settlementFailed, "a settlement could not be written \(again)", error.metadata)
        case .quarantining:
            self(.settlementFailed, "unreadable entries could not be moved aside \(again)", error.metadata)
        case .promoting:
            self(.promotionFailed, "deferred entries could not be brought back \(again)", error.metadata)
        case .loweringMark: self(.markNotLowered, "a send mark was not set back: \(error)", error.metadata)
        case .trimming: self(.trimFailed, "old rejections and ids could not be deleted, \(again)", error.metadata)
        case .notingState(let key):
            self(
                .stateNotNoted, "the journal does not know that lane \(key) changed its state: \(error)",
                ["lane": .lane(key), "code": .string(error.code.name)])
        case .keepingProvenTopics:
            self(.noteFailed, "which topics were proven is not kept: \(error)", error.metadata)
        case .readingProvenTopics:
            self(.noteFailed, "which topics were proven can't be read: \(error)", error.metadata)
        }
    }
}

extension EngineStatus.Throttle {
    fileprivate func metadata(wait: Duration) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["wait-ms": .milliseconds(wait)]
        if let status { metadata["status"] = .count(status) }
        if let reason { metadata["reason"] = .string(reason.rawValue) }
        if let rate = perSecond { metadata["per-second"] = .stringConvertible(rate) }
        return metadata
    }
}

extension JournalError {
    var metadata: Logger.Metadata { ["code": .string(code.name)] }
}
