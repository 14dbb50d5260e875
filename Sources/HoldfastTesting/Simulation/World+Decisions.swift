internal import Holdfast
internal import HoldfastAPNsAnswers

/// What the engine asks the journal to settle, against what it can know.
extension World {
    func checkDecisions(_ batch: SettlementBatch) {
        for key in batch.acknowledged.map(\.key) {
            guard let entry = entry(key) else { continue }
            note("settle \(key.uid) acknowledged")
            if ask(.confirmed, of: entry) { checkConfirmation(entry) }
        }
        for key in batch.quieted {
            guard let entry = entry(key) else { continue }
            note("settle \(key.uid) quiet")
            rules.everAside += 1
            // What an operator has had taken back meanwhile is over for the connection as well.
            if ask(.confirmed, of: entry) { checkConfirmation(entry) } else { entry.wasQuieted = true }
        }
        for settlement in batch.others {
            guard let entry = entry(settlement.key) else { continue }
            note("settle \(settlement.key.uid) \(settlement.kind)")
            switch settlement.kind {
            case .reject(let cause):
                if ask(.rejected(cause.reason), of: entry) { checkRejection(entry, cause) }
            case .expire:
                if ask(.expired, of: entry) { checkExpiry(entry) }
            case .unknown, .withdrawSent:
                if ask(.unknown, of: entry) { checkUnknown(entry) }
            case .withdraw where entry.isFlagged, .supersede where entry.isFlagged:
                if ask(.unknown, of: entry) { checkUnknown(entry) }
            case .withdraw:
                if ask(.withdrawn, of: entry) { checkWithdrawal(entry) }
            case .supersede:
                if ask(.superseded, of: entry) { checkSuperseded(entry) }
            case .deferUntil(let due, _, let reason, let possiblySent):
                checkDeferral(entry, until: due, reason: reason, possiblySent: possiblySent)
            case .move(let lane, _, _, let possiblySent): checkMove(entry, to: lane, possiblySent: possiblySent)
            case .recall(_, let possiblySent):
                checkRecall(entry, possiblySent: possiblySent)
            }
        }
    }

    private func entry(_ key: EntryKey) -> LedgerEntry? {
        guard let entry = ledger[key.uid] else {
            violate(0, "a settlement names entry \(key.uid), which was never accepted")
            return nil
        }
        return entry
    }

    /// One outcome each, also among those that were asked for and could not be written yet.
    ///
    /// - Returns: false for what was asked for before: it failed, and is tried again.
    private func ask(_ outcome: TerminalOutcome, of entry: LedgerEntry) -> Bool {
        guard entry.outcome == nil, !entry.requested.contains(outcome) else { return false }
        if isTakenBackInFlight(entry) {
            rules.hasTwoWords = true
            return false
        }
        if let other = entry.requested.first(where: { $0 != outcome }) {
            violate(2, "entry \(entry.uid) is to be settled as \(outcome), after it was to be settled as \(other)")
        }
        entry.requested.append(outcome)
        let isTaken = entry.copies.contains { $0.life == life && $0.word == .taken }
        if isTaken, outcome != .confirmed {
            violate(
                2, "entry \(entry.uid) is to be settled as \(outcome), though the engine was told that it was taken")
        }
        return true
    }

    /// Taken back while it was on a connection that answers errors only, which goes on to speak of it. The first word on
    /// disk counts.
    func isTakenBackInFlight(_ entry: LedgerEntry) -> Bool {
        entry.requested == [.unknown] && rules.withdrawn.contains(entry.uid)
            && entry.lane.route == SimulatedConnector.cumulative
    }

    // MARK: Confirmed

    private func checkConfirmation(_ entry: LedgerEntry) {
        if entry.copies.contains(where: { $0.life == life && $0.word == .taken }) {
            if !entry.copies.contains(where: \.isTaken) {
                violate(2, "entry \(entry.uid) is confirmed by a word, and the service never took it")
            }
            return
        }
        guard entry.lane.route == SimulatedConnector.cumulative else {
            return violate(2, "entry \(entry.uid) is confirmed without an answer")
        }
        checkQuiet(entry)
        entry.wasQuieted = true
    }

    /// Silence counts only once an entry has been away for the period, and the connection was listened to since.
    private func checkQuiet(_ entry: LedgerEntry) {
        guard let quietPeriod = swarm.quietPeriod else {
            return violate(2, "entry \(entry.uid) is confirmed by silence, which counts for nothing here")
        }
        // What was said after the connection had listened comes in the same turn, and is too late.
        guard
            let index = entry.copies.lastIndex(where: {
                $0.life == life && ($0.word == .outstanding || $0.toldBeforeTurn >= previousTurn)
            }),
            let leftAt = entry.copies[index].leftAt
        else {
            return violate(2, "entry \(entry.uid) is confirmed, and nothing of it is under way")
        }
        let connection = entry.copies[index].connection
        guard let peer = peers.last(where: { $0.number == connection && $0.route == 1 }) as? CumulativePeer,
            let position = peer.position(of: entry, copy: index)
        else { return violate(2, "entry \(entry.uid) is confirmed by the silence of a connection that is over") }
        guard let listenedAt = peer.listenedAt, listenedAt >= leftAt + quietPeriod else {
            return violate(
                2,
                "entry \(entry.uid) left at \(leftAt.wholeMilliseconds) ms and was confirmed by silence before "
                    + "the connection was listened to after the quiet period")
        }
        guard !entry.copies[index].isTaken else { return }
        if peer.excusesQuiet(at: position, quietPeriod: quietPeriod) {
            rules.excusedByLateError += 1
        } else {
            violate(2, "entry \(entry.uid) is confirmed by silence, and the service never took it")
        }
    }

    /// What an error denies that silence has confirmed, and nothing else.
    private func checkRecall(_ entry: LedgerEntry, possiblySent: Bool) {
        // One that had to give way to later ones is confirmed already, and one that an operator took back while it was in
        // flight has ended: they are recalled in vain.
        let isTakenBack = entry.outcome == .withdrawn || entry.outcome == .unknown
        if entry.outcome != nil, !isTakenBack, !(entry.outcome == .confirmed && entry.wasQuieted) {
            violate(2, "entry \(entry.uid) is recalled, and ended as \(entry.outcome.map { "\($0)" } ?? "-")")
        }
        let isNamed = entry.lastCopy.map { copy in copy.life == life && Copy.isRefused(copy.word) } ?? false
        if !possiblySent, !isNamed, !entry.hasOneAttempt {
            violate(3, "entry \(entry.uid) is recalled as never sent, and silence had confirmed it")
        }
        if entry.outcome == nil {
            entry.requested = []
            entry.isAside = false
            entry.isRecallAsked = true
        }
        rules.recalled += 1
    }

    // MARK: The other ends

    private func checkRejection(_ entry: LedgerEntry, _ cause: RejectionCause) {
        let disk = snapshot
        let black = disk.blacklistEntry(against: entry)
        for copy in entry.copies.reversed() where copy.life == life {
            guard case .rejected(let reason, let fault) = copy.word, reason == cause.reason else { continue }
            // Of one that can't be read nobody can tell the token.
            if fault == .token || fault == .suspectToken, black == nil, !wasLifted(entry.notification),
                // A time to come is that of the answer.
                !isRegisteredSince(entry, cause.timestamp.map { min($0, cause.rejectedAt) }), !entry.isDamaged
            {
                violate(4, "entry \(entry.uid) is settled as \(reason), and its token is not on the blacklist yet")
            }
            return
        }
        if wasRejectedBefore(entry, cause, disk) { return }
        switch cause.reason {
        case .blacklisted:
            let isNewer = black.map { black in
                entry.notification.tokenRegisteredAt.map { $0 > black.since } ?? false
            }
            if isNewer ?? true {
                violate(4, "entry \(entry.uid) is rejected as blacklisted, and its token is not")
            }
        case .tooManyAttempts:
            if !entry.copies.contains(where: { $0.word == .deferred || $0.word == .unknown }) {
                violate(6, "entry \(entry.uid) is rejected for too many attempts, and has had none")
            }
        case .recipientUnsupported: checkIsForeign(entry)
        case .endsConnections: checkBlame(entry)
        case .expired:
            // The service refused it for now until it was too old, which in a run takes a clock that was set.
            let wasRefused = entry.copies.contains { copy in
                if case .rejected(_, .suspectToken) = copy.word { true } else { copy.word == .deferred }
            }
            // What waits for its topic need not have gone out itself.
            let waits = rules.refusedTopics.contains(entry.notification.topic)
            if !wasRefused && !waits || !isClockSuspect {
                violate(6, "entry \(entry.uid) is rejected for its age, and nobody refused it for as long")
            }
        default:
            violate(2, "entry \(entry.uid) is rejected (\(cause.reason)), which nobody said")
        }
    }

    /// It is for another service than its lane's.
    private func checkIsForeign(_ entry: LedgerEntry) {
        let isOther = swarm.hasOtherService && entry.lane.route == SimulatedConnector.extra
        if isOther == (entry.notification.recipient.serviceAddress != nil) {
            violate(2, "entry \(entry.uid) is rejected for its recipient, of a kind that its service takes")
        }
    }

    /// A crash came between the blacklisting and the settlement: the blacklist says which notification was answered so.
    private func wasRejectedBefore(_ entry: LedgerEntry, _ cause: RejectionCause, _ disk: InMemoryDisk) -> Bool {
        guard let device = entry.notification.recipient.device, let known = disk.blacklist[device] else { return false }
        guard known.entries.contains(where: { $0.answered == entry.uid && $0.reason == cause.reason }) else {
            return false
        }
        return entry.copies.contains { copy in
            if case .rejected(cause.reason, _) = copy.word { copy.life < life } else { false }
        }
    }

    /// The service speaks of an earlier life of the token.
    func isRegisteredSince(_ entry: LedgerEntry, _ timestamp: WallTime?) -> Bool {
        guard let registered = entry.notification.tokenRegisteredAt else { return false }
        return timestamp.map { registered > $0 } ?? true
    }

    /// An operator may have lifted it in between.
    private func wasLifted(_ notification: PushNotification) -> Bool {
        notification.recipient.device.map(ledger.lifted.contains) ?? false
    }

    private func checkExpiry(_ entry: LedgerEntry) {
        if entry.mayHaveBeenTaken(life: life) {
            violate(2, "entry \(entry.uid) is settled as expired, and a copy may have been taken")
        }
        if isExpiredByDoubt(entry.notification) {
            violate(2, "entry \(entry.uid) is settled as expired by a clock that has just been set")
        }
        if !entry.notification.isExpired(at: wall) {
            violate(2, "entry \(entry.uid) is settled as expired before its time")
        }
    }

    private func checkUnknown(_ entry: LedgerEntry) {
        if !entry.mayHaveBeenTaken(life: life), !entry.isPossiblySentByRule, !entry.isFlagged {
            violate(2, "entry \(entry.uid) is settled as unknown, and was certainly never sent")
        }
        if !wasEverHandedOut(entry) {
            violate(2, "entry \(entry.uid) is settled as unknown, and no connection ever had it")
        }
    }

    private func checkWithdrawal(_ entry: LedgerEntry) {
        if !rules.withdrawn.contains(entry.uid) {
            violate(2, "entry \(entry.uid) is withdrawn, which nobody has asked for")
        }
        checkNeverSent(entry, "withdrawn")
    }

    private func checkSuperseded(_ entry: LedgerEntry) {
        if !isSuperseded(entry), !isNotNewest(entry) {
            violate(2, "entry \(entry.uid) is superseded, and nothing newer was accepted")
        }
        checkNeverSent(entry, "superseded")
    }

    private func checkNeverSent(_ entry: LedgerEntry, _ outcome: String) {
        if entry.mayHaveBeenTaken(life: life) || entry.isPossiblySentByRule && !entry.isFlagged {
            violate(2, "entry \(entry.uid) is \(outcome) as never sent, and a copy may have been taken")
        }
    }

    /// What an entry's record is to say, wherever it waits next.
    func checkPossiblySent(_ entry: LedgerEntry, _ possiblySent: Bool, as word: String) {
        let mayHaveBeenTaken = entry.mayHaveBeenTaken(life: life)
        if mayHaveBeenTaken, !possiblySent, !entry.isFlagged {
            violate(2, "entry \(entry.uid) is \(word) as never sent, and a copy may have been taken")
        }
        if possiblySent, !mayHaveBeenTaken, !entry.isPossiblySentByRule, !entry.isFlagged {
            violate(3, "entry \(entry.uid) is \(word) as possibly sent, and was certainly never sent")
        }
    }

    private func checkDeferral(_ entry: LedgerEntry, until due: WallTime, reason: Reason, possiblySent: Bool) {
        if reason == .endsConnections { entry.wasBlamed = true }
        guard !entry.deferralIsAsked else { return }
        entry.deferralIsAsked = true
        // In moments nobody looks at it may go among the deferred and come back.
        entry.wasDeferred = true
        checkPossiblySent(entry, possiblySent, as: "deferred")
        // One that is held for the clock is called back, and due where no backoff puts anything.
        let isForClock = reason == .clockDistrusted
        let greatest = isForClock ? .seconds(25 * 3600) : max(swarm.engine.retry.maximum, .seconds(20 * 60))
        // One of a topic that is set aside waits for its topic, and not for a time.
        if due.isPlaceOfTopic { return checkPlace(entry) }
        if due.isPlaceOfTag { return checkTagPlace(entry, due) }
        if let time = ScheduledPlace.time(of: due) { return checkSchedule(entry, for: time) }
        if reason == .endsConnections { checkBlame(entry) }
        if due.since(wall) > greatest + .seconds(1), !isClockSuspect {
            violate(9, "entry \(entry.uid) is deferred for \(due.since(wall)), longer than the greatest backoff")
        }
    }

    /// It waits for a time that its sender has set, and not behind its end.
    private func checkSchedule(_ entry: LedgerEntry, for time: WallTime) {
        let notification = entry.notification
        guard notification.deliverAfter != nil || notification.deliveryHours != nil else {
            return violate(9, "entry \(entry.uid) is scheduled, and its sender has set no time")
        }
        let end = notification.expiration?.deadline.map(WallTime.init(seconds:)) ?? .init(milliseconds: .max)
        if time > end { violate(9, "entry \(entry.uid) is scheduled behind its expiration") }
    }

    // MARK: The blacklist

    /// The engine is told what became of a notification.
    func told(_ word: Copy.Word, of entry: LedgerEntry, copy: Int) {
        entry.copies[copy].toldAt = wall
        let notification = entry.notification
        let topic = RuleState.Proven(route: entry.lane.route, topic: notification.topic)
        switch word {
        case .taken:
            if !notification.isBroadcast { rules.proven.insert(topic) }
            rules.uniform[.topic(topic)] = nil
            rules.uniform[.lane(entry.lane)] = nil
        case .rejected(_, .suspectToken):
            guard let device = notification.recipient.device else { return }
            ledger.suspects.insert(device)
            rules.suspicions.append(now)
            rules.refusedTopics.insert(notification.topic)
        case .rejected(let reason, .token) where !notification.isBroadcast:
            if isOneTooMany(.topic(topic), reason, entry, copy) { rules.refusedTopics.insert(topic.topic) }
        case .rejected(_, .request): _ = isOneTooMany(.lane(entry.lane), nil, entry, copy)
        case .rejected(let reason, _): _ = isOneTooMany(.lane(entry.lane), reason, entry, copy)
        case .outstanding, .deferred, .notProcessed, .unknown: break
        }
    }

    /// So many are not refused alike one behind the other: it is the service that is wrong, or what sends them. The topic, or
    /// the lane, waits.
    private func isOneTooMany(
        _ subject: RuleState.Subject, _ reason: Reason?, _ entry: LedgerEntry, _ copy: Int
    ) -> Bool {
        let consumer = entry.copies[copy].consumer
        var answers = rules.uniform[subject] ?? RuleState.UniformAnswers(consumer: consumer, reason: reason)
        if answers.consumer != consumer || answers.reason != reason {
            answers = RuleState.UniformAnswers(consumer: consumer, reason: reason)
        }
        answers.count += 1
        rules.uniform[subject] = answers
        guard isDoubted(answers) else { return false }
        entry.copies[copy].isDoubted = true
        if isHealing { service.registerAgain() }
        return true
    }

    /// Whether these are too many to be believed.
    func isDoubted(_ answers: RuleState.UniformAnswers) -> Bool {
        answers.count > swarm.engine.suspects.greatestUniform
    }

    /// A token that was called bad waits, alone or with those that were called so before it, unless there are many: in a
    /// wrong environment all of them are called so.
    private func checkConviction(_ entry: BlacklistEntry) {
        let suspicions: [Reason] = [
            .badDeviceToken, .deviceTokenNotForTopic, .invalidToken, ImaginaryService.Word.wrongFeather.reason,
        ]
        guard suspicions.contains(entry.reason) else { return }
        checkProof(of: entry)
        guard let first = rules.suspicions.first else { return }
        let policy = swarm.engine.suspects
        if now < first + policy.hold, rules.suspicions.count < policy.greatestHeld {
            violate(4, "\(entry.recipient) is blacklisted on one word, \((now - first).wholeMilliseconds) ms after it")
        }
    }

    /// A service that has taken nothing of a topic may be the wrong one: what it says convicts nobody.
    private func checkProof(of entry: BlacklistEntry) {
        guard let topic = entry.topic else { return }
        if !rules.proven.contains(RuleState.Proven(route: entry.route, topic: topic)) {
            violate(4, "\(entry.recipient) is blacklisted for topic \(topic), of which nothing was ever taken")
        }
    }

    /// A token is convicted for what the service has said of it, for the topic and the service of that notification only.
    private func checkGround(of entry: BlacklistEntry) {
        guard let uid = entry.answered, let answered = ledger[uid] else {
            return violate(4, "\(entry.recipient) is blacklisted, and no notification is named that was answered so")
        }
        let notification = answered.notification
        let wasSaid = answered.copies.contains { copy in
            guard copy.life == life, case .rejected(entry.reason, let fault) = copy.word else { return false }
            return fault == .token || fault == .suspectToken
        }
        if notification.recipient != entry.recipient || !wasSaid {
            violate(
                4, "\(entry.recipient) is blacklisted (\(entry.reason)), which nobody has said of it by entry \(uid)")
        }
        if entry.topic != notification.topic || entry.endpoint != SimulatedConnector.endpoint(of: answered.lane.route) {
            violate(
                4,
                "\(entry.recipient) is blacklisted for topic \(entry.topic ?? "any") at \(entry.endpoint ?? "any"), and the "
                    + "answer was about \(notification.topic) on route \(answered.lane.route)")
        }
    }

    /// An address of another service is forgotten in time, and a token of Apple's is not.
    private func checkEnd(of entry: BlacklistEntry) {
        let lifetime = entry.recipient.serviceAddress.map { _ in SimulatedConnector.blacklistLifetime }
        if entry.expiresAt != lifetime.map({ entry.learntAt.advanced(by: $0) }) {
            violate(4, "\(entry.recipient) is blacklisted until \(entry.expiresAt.map { "\($0)" } ?? "ever")")
        }
    }

    /// What goes on the blacklist, against what the service knows.
    func checkBlacklisting(_ entries: [BlacklistEntry]) {
        for entry in entries {
            note("blacklist \(entry.recipient) \(entry.reason) since \(entry.since.milliseconds)")
            checkConviction(entry)
            checkGround(of: entry)
            checkEnd(of: entry)
            guard !ledger.blacklistedByOperator.contains(entry.recipient),
                case .good = service.condition(of: entry.recipient)
            else { continue }
            rules.wrongConvictions += 1
        }
    }
}
