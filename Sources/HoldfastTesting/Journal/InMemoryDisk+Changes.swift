internal import Holdfast

/// What a commit does.
extension InMemoryDisk {
    mutating func append(_ submission: Submission) -> Appended {
        precondition(producer(submission.producer) != nil, "a submission names a Producer that was never opened")
        let first = UID(nextUID)
        let known = submission.inquiries.enumerated().compactMap { index, identity in
            self.identities[identity].map { Appended.Repeat(index: index, uid: $0.uid, outcome: $0.outcome) }
        }
        var repeats: [Appended.Repeat] = []
        var gone: [Int] = []
        let retries = Dictionary(submission.retries.map { ($0.index, $0.rejection) }) { first, _ in first }
        let histories = Dictionary(submission.histories.map { ($0.index, $0.history) }) { first, _ in first }
        let times = Dictionary(submission.schedules.map { ($0.index, $0.time) }) { first, _ in first }
        let identities = Dictionary(
            submission.identities.map { ($0.index, $0.identity) }, uniquingKeysWith: { first, _ in first })
        for (index, item) in submission.items.enumerated() {
            var identity = identities[index]
            if let identity, let known = self.identities[identity] {
                repeats.append(Appended.Repeat(index: index, uid: known.uid, outcome: known.outcome))
                continue
            }
            if let uid = retries[index] {
                guard let rejection = rejections.remove(uid) else {
                    gone.append(index)
                    continue
                }
                // A repeat of it is from now on one of the new entry.
                identity = rejection.record.identity.flatMap { self.identities[$0]?.uid == uid ? $0 : nil }
            }
            let uid = UID(nextUID)
            nextUID += 1
            let place = times[index].map { EntryHistory.Place.deferred(until: ScheduledPlace.due(for: $0)) }
            let history = histories[index] ?? EntryHistory(place: place ?? .waiting)
            let record = Record(
                packed: Array(submission.bytes[item.range]), attempts: history.attempts,
                producer: history.producer ?? submission.producer, identity: identity,
                isPossiblySent: history.isPossiblySent,
                lane: item.lane)
            put(record, as: EntryKey(lane: item.lane, uid: uid), history)
            if case .rejected = history.place {
            } else if let key = newestKey(of: record) {
                let expiration = PackedNotification.expiration(of: record.packed.span, in: record.packed.indices)
                newest[key] = .accepting(uid, expiration: expiration, after: newest[key])
            }
            if let identity {
                self.identities[identity] = Remembered(uid: uid, acceptedAt: submission.acceptedAt, outcome: nil)
            }
        }
        var appended = Appended(first: first, repeats: repeats, gone: gone)
        appended.known = known
        totals.accepted += UInt64(appended.count(of: submission))
        if let note = submission.note { notes[note.name] = note.value }
        lastWallTime = submission.earliestTime ?? lastWallTime
        return appended
    }

    private mutating func put(_ record: Record, as key: EntryKey, _ history: EntryHistory) {
        let isOpen: Void? = changeLane(key.lane) { lane in
            lane.lastUID = key.uid
            switch history.place {
            case .waiting: lane.entries.insert(record, for: key.uid)
            case .deferred(let due):
                let reason = history.lastReason ?? .neverProcessed
                lane.deferred.insert(DeferredTable.Entry(due: due, reason: reason, record: record), for: key.uid)
            case .rejected: break
            }
        }
        precondition(isOpen != nil, "a submission names a lane that was never opened")
        changeProducer(record.producer) { $0.totals.accepted += 1 }
        guard case .rejected(let cause) = history.place else {
            usedBytes += record.packed.count
            return changeProducer(record.producer) { $0.unconfirmed += 1 }
        }
        rejections.insert((record, cause), for: key.uid)
        totals.rejected += 1
        changeProducer(record.producer) { $0.totals.rejected += 1 }
    }

    /// - Parameter ended: the Producers of the entries that met their end are added.
    mutating func settle(_ batch: SettlementBatch, ended: inout Set<ProducerID>) -> SettlementReport {
        var report = SettlementReport()
        totals.possibleDuplicates += UInt64(batch.possibleDuplicates)
        func count(_ tookEffect: Bool) {
            if tookEffect { report.settled += 1 } else { report.gone += 1 }
        }
        for entry in batch.acknowledged {
            count(end(entry.key, .confirmed, cause: nil, batch, &ended, sentAgo: entry.sentAgo))
        }
        for key in batch.quieted {
            count(
                batch.greatestAside > 0
                    ? putAside(key, batch, ended: &ended) : end(key, .confirmed, cause: nil, batch, &ended))
        }
        if !batch.quieted.isEmpty { confirmAside(aside.oldest(aside.count - batch.greatestAside)) }
        for settlement in batch.others {
            let key = settlement.key
            switch settlement.kind {
            case .reject(let cause): count(end(key, .rejected(cause.reason), cause: cause, batch, &ended))
            case .expire: count(end(key, .expired, cause: nil, batch, &ended))
            case .unknown:
                count(
                    end(key, .unknown, cause: nil, batch, &ended) || endQuarantined(key, .unknown, batch))
            case .withdraw, .withdrawSent:
                var isUnknown = record(of: key)?.isPossiblySent == true
                if case .withdrawSent = settlement.kind { isUnknown = true }
                let terminal: TerminalOutcome = isUnknown ? .unknown : .withdrawn
                let cause = isUnknown ? batch.withdrawal : nil
                let isThere =
                    end(key, terminal, cause: cause, batch, &ended)
                    || endQuarantined(key, terminal, cause: cause, batch)
                count(isThere)
                if isThere, !isUnknown { report.withdrawn += 1 }
            case .supersede:
                let isUnknown = record(of: key)?.isPossiblySent == true
                count(end(key, isUnknown ? .unknown : .superseded, cause: nil, batch, &ended))
            case .deferUntil(let due, let attempts, let reason, let possiblySent):
                count(postpone(key, until: due, attempts: attempts, reason: reason, possiblySent: possiblySent))
            case .move(let lane, let due, let reason, let possiblySent):
                count(move(key, to: lane, due: due, reason: reason, possiblySent: possiblySent))
            case .recall(let due, let possiblySent): count(recall(key, due: due, possiblySent: possiblySent))
            }
        }
        lastWallTime = batch.earliestTime ?? lastWallTime
        if let greatest = batch.greatestOutcomeBytes { _ = outcomes.trim(TrimBounds(greatestOutcomeBytes: greatest)) }
        return report
    }

    /// Nil for an entry that goes whatever comes after it.
    private func newestKey(of record: Record) -> NewestKey? {
        NewestKey(packed: record.packed.span, in: record.packed.indices, key: identityKey)
    }

    /// Notes the end of an entry among those of which the newest wins.
    mutating func endNewest(_ uid: UID, _ record: Record, _ terminal: TerminalOutcome) {
        guard let key = newestKey(of: record), let known = newest[key] else { return }
        newest[key] = known.ending(uid, as: terminal)
    }

    func record(of key: EntryKey) -> Record? {
        guard let lane = lane(key.lane) else { return nil }
        if let found = quarantined[key.uid], found.record.lane == key.lane {
            var record = found.record
            record.isPossiblySent = found.isPossiblySent
            return record
        }
        return lane.entries[key.uid] ?? lane.deferred[key.uid]?.record
    }

    /// - Returns: whether the entry was still there.
    private mutating func end(
        _ key: EntryKey, _ terminal: TerminalOutcome, cause: RejectionCause?, _ batch: SettlementBatch,
        _ ended: inout Set<ProducerID>, sentAgo: SentAgo? = nil
    ) -> Bool {
        let taken = changeLane(key.lane) { $0.entries.remove(key.uid) ?? $0.deferred.remove(key.uid)?.record }
        guard let taken, let record = taken else { return false }
        usedBytes -= record.packed.count
        if let cause, case .rejected = terminal { rejections.insert((record, cause), for: key.uid) }
        totals.add(terminal)
        changeProducer(record.producer) { producer in
            producer.unconfirmed -= 1
            producer.totals.add(terminal)
        }
        ended.insert(record.producer)
        noteEnd(of: key.uid, record, terminal, cause: cause, batch, sentAgo: sentAgo)
        return true
    }

    /// An entry's identity and its outcome.
    mutating func noteEnd(
        of uid: UID, _ record: Record, _ terminal: TerminalOutcome, cause: RejectionCause?, _ batch: SettlementBatch,
        sentAgo: SentAgo? = nil
    ) {
        endNewest(uid, record, terminal)
        if let identity = record.identity, identities[identity]?.uid == uid {
            identities[identity]?.outcome = terminal
        }
        if batch.keepsOutcomes { log(uid, record, terminal, cause: cause, batch, sentAgo: sentAgo) }
    }

    private mutating func postpone(
        _ key: EntryKey, until due: WallTime, attempts: UInt16, reason: Reason, possiblySent: Bool
    ) -> Bool {
        changeLane(key.lane) { lane in
            guard var record = lane.entries.remove(key.uid) else { return false }
            record.attempts = attempts
            record.isPossiblySent = record.isPossiblySent || possiblySent
            lane.deferred.insert(DeferredTable.Entry(due: due, reason: reason, record: record), for: key.uid)
            return true
        } ?? false
    }

    /// - Returns: whether the entry was there to be moved.
    private mutating func move(
        _ key: EntryKey, to other: LaneID, due: WallTime, reason: Reason, possiblySent: Bool
    ) -> Bool {
        guard key.lane != other, lane(other) != nil, lane(key.lane)?.entries[key.uid]?.fault == nil,
            let taken = changeLane(key.lane, { $0.entries.remove(key.uid) }), var record = taken
        else { return false }
        record.lane = other
        record.isMoved = true
        record.isPossiblySent = record.isPossiblySent || possiblySent
        _ = changeLane(other) { lane in
            lane.deferred.insert(DeferredTable.Entry(due: due, reason: reason, record: record), for: key.uid)
            lane.lastUID = max(lane.lastUID, key.uid)
        }
        return true
    }

    /// Appends an outcome to the log. One whose record cannot be read has none.
    mutating func log(
        _ uid: UID, _ record: Record, _ terminal: TerminalOutcome, cause: RejectionCause?, _ batch: SettlementBatch,
        sentAgo: SentAgo? = nil
    ) {
        guard let notification = record.notification, let id = notification.id,
            let acceptedAt = record.acceptedAt
        else { return }
        let detail = batch.details[uid]
        // What is acknowledged was sent; what is rejected with a status was answered.
        let isAttempt = detail?.isAttempt ?? (terminal == .confirmed || cause?.status != nil)
        let history = DeliveryHistory(
            acceptedAt: acceptedAt, sentAt: (sentAgo ?? detail?.sentAgo)?.time(before: batch.settledAt),
            settledAt: batch.settledAt, attempts: Int(record.attempts) + (isAttempt ? 1 : 0))
        let producer = producer(record.producer)?.name ?? ""
        outcomes.append { cursor in
            Outcome(
                cursor: cursor, uid: uid, terminal: terminal, cause: cause, history: history, id: id,
                recipient: notification.recipient, topic: notification.topic, producer: producer,
                tag: notification.tag, context: notification.context, uniqueID: detail?.uniqueID,
                payload: batch.keepsPayloads ? notification.payload : [])
        }
    }

    mutating func promote(_ lane: LaneID, after: WallTime?, now: WallTime, limit: Int) -> [UID] {
        changeLane(lane) { lane in
            let due = lane.deferred.takeDue(now, after: after, limit: limit)
            for (uid, record) in due { lane.entries.insert(record, for: uid) }
            return due.map(\.uid)
        } ?? []
    }

    mutating func lowerMark(of lane: LaneID, to mark: UID) {
        _ = changeLane(lane) { $0.mark = min($0.mark, mark) }
    }

    /// Raises the marks as far as their ceilings and the lanes' last UIDs let them.
    mutating func raiseMarks(to ceilings: [LaneID: UID]) {
        for (id, ceiling) in ceilings { _ = changeLane(id) { $0.mark = max($0.mark, min(ceiling, $0.lastUID)) } }
    }

    func wouldRaiseMarks(to ceilings: [LaneID: UID]) -> Bool {
        ceilings.contains { id, ceiling in lane(id).map { $0.mark < min(ceiling, $0.lastUID) } ?? false }
    }

    mutating func trim(_ bounds: TrimBounds, atMost room: Int) -> Trimmed {
        var trimmed = Trimmed()
        lastWallTime = bounds.earliestTime ?? lastWallTime
        let rejections = rejections.all
        let surplus = bounds.greatestRejections.map { max(rejections.count - $0, 0) } ?? 0
        for (index, rejection) in rejections.enumerated() {
            let isOld = bounds.rejectionsBefore.map { rejection.value.cause.rejectedAt < $0 } ?? false
            guard index < surplus || isOld, trimmed.rejections < room, self.rejections.remove(rejection.uid) != nil
            else { continue }
            trimmed.rejections += 1
        }
        let identities = identities.sorted { ($0.value.acceptedAt, $0.value.uid) < ($1.value.acceptedAt, $1.value.uid) }
        let excess = bounds.greatestIdentities.map { max(identities.count - $0, 0) } ?? 0
        for (index, entry) in identities.enumerated() {
            let isOld = bounds.identitiesBefore.map { entry.value.acceptedAt < $0 } ?? false
            guard index < excess || isOld, trimmed.rejections + trimmed.identities < room else { continue }
            self.identities[entry.key] = nil
            trimmed.identities += 1
        }
        trimmed.aside = trimAside(bounds)
        trimmed.outcomes = outcomes.trim(bounds)
        return trimmed
    }
}

extension InMemoryDisk.Record {
    /// Nil for bytes that are no notification.
    var acceptedAt: WallTime? {
        do throws(PackedNotification.Damage) {
            return try PackedNotification.Fields(packed.span, in: 0..<packed.count).acceptedAt
        } catch { return nil }
    }

    /// Nil for bytes that are no notification; whoever hands the entry out will find out.
    var notification: PushNotification? {
        let batch = EntryBatch(
            bytes: packed, items: [EntryBatch.Item(uid: .none, attempts: attempts, range: 0..<packed.count)])
        do throws(PackedNotification.Damage) { return try batch.notification(at: 0) } catch { return nil }
    }
}

extension JournalTotals {
    mutating func add(_ terminal: TerminalOutcome) {
        switch terminal {
        case .confirmed: confirmed += 1
        case .rejected: rejected += 1
        case .expired: expired += 1
        case .unknown: unknown += 1
        case .withdrawn: withdrawn += 1
        case .superseded: superseded += 1
        }
    }
}
