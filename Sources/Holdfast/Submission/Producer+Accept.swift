/// From a slice of notifications to a submission for the journal and back to receipts.
extension Producer {
    /// - Parameters:
    ///   - rows: of a queue, one for each notification, or none. Those of notifications that are appended, or were before, are
    ///     taken out of it in the same commit. Not with `stopsAtRefusal`.
    ///   - onCommit: takes the receipts, and how many of the notifications had been accepted before.
    func submit(
        _ notifications: ArraySlice<PushNotification>, note: (name: String, value: [UInt8])?,
        stopsAtRefusal: Bool = false, taking rows: [QueueRow] = [],
        onCommit: @escaping @Sendable (_ receipts: [Receipt], _ repeats: Int) -> Void
    ) {
        let (refusal, terms) = shared.withLock { ($0.end ?? $0.blacklistFailure, $0.terms) }
        if let refusal {
            count(accepted: 0, refusals: [refusal.reason: notifications.count])
            return onCommit(Array(repeating: .refused(refusal), count: notifications.count), 0)
        }
        let spans = tracer.map { SubmissionSpans($0, notifications, producer: name) }
        let notifications = spans.map { $0.notifications[...] } ?? notifications
        let now = clock.wall()
        let reading = look(now)
        var draft = SubmissionDraft(count: notifications.count)
        pack(notifications, into: &draft, by: terms, now: now, earliest: reading.earliest)
        refuseBlacklisted(&draft, by: terms.routes, now: now)
        if stopsAtRefusal { draft.cutBehindRefusal() }
        let finished = draft
        let submission = finished.submission(
            producer: id, acceptedAt: now, earliestTime: timeToRemember(reading), note: note, taking: rows)
        guard !submission.items.isEmpty || !submission.inquiries.isEmpty || note != nil else {
            let receipts = finished.receipts(.success(Appended(first: .none)))
            count(accepted: 0, refusals: Self.refusals(in: receipts))
            spans?.end(receipts)
            return onCommit(receipts, 0)
        }
        journal.append(submission) { [self] result in
            let receipts = finished.receipts(result)
            var (accepted, repeats) = (0, 0)
            switch result {
            case .success(let appended):
                repeats = appended.repeats.count + appended.known.count
                accepted = appended.count(of: submission)
            case .failure(let error): stopIfFatal(error)
            }
            count(accepted: accepted, refusals: accepted == receipts.count ? [:] : Self.refusals(in: receipts))
            for (index, activity, update) in finished.liveActivities {
                guard case .accepted(let uid) = receipts[index] else { continue }
                shared.withLock { $0.liveActivities.accepted(update, of: activity, as: uid) }
            }
            spans?.end(receipts)
            onCommit(receipts, repeats)
        }
    }

    /// Stops accepting after an error that only reopening the journal can resolve.
    private func stopIfFatal(_ error: JournalError) {
        guard error.needsReopening else { return }
        let (tell, observer) = shared.withLock { shared in
            shared.end = Refusal(.journalFailed, error.message)
            return (shared.onJournalFailure, shared.observer)
        }
        // Before its refusals are counted, which would look like those of a disk.
        observer?.conditions.lost(error)
        tell?(error)
    }

    /// Adds to what this process has accepted and refused, by whichever way it came.
    func count(accepted: Int, refusals: [Reason: Int]) {
        let observer = shared.withLock { shared in
            shared.submitted += accepted
            shared.refused += refusals.values.reduce(0, +)
            return shared.observer
        }
        observer?.submitted(accepted: accepted, refusals: refusals)
    }

    /// Refusals by reason. Notifications of an undetermined commit count as refused, too.
    private static func refusals(in receipts: [Receipt]) -> [Reason: Int] {
        var refusals: [Reason: Int] = [:]
        for receipt in receipts {
            switch receipt {
            case .accepted, .repeated: continue
            case .refused(let refusal): refusals[refusal.reason, default: 0] += 1
            case .undetermined: refusals[.journalFailed, default: 0] += 1
            }
        }
        return refusals
    }

    private func pack(
        _ notifications: ArraySlice<PushNotification>, into draft: inout SubmissionDraft, by terms: ProducerTable.Terms,
        now: WallTime, earliest: WallTime
    ) {
        let (routes, configuration) = (terms.routes, terms.configuration)
        let missingIDs = notifications.reduce(0) { $1.id == nil ? $0 + 1 : $0 }
        var ids = shared.withLock { shared in (0..<missingIDs).map { _ in shared.ids.next() } }
        let repeatKey = configuration.remembersIDs && missingIDs < notifications.count ? journal.repeatKey : nil
        let packedName = name == ProducerTable.standardName ? "" : name
        // Those of the spans that were started; a sender's without one are nobody's.
        let keepsTraces = tracer != nil
        // What a connector takes may change with its credentials: it is asked once for a run of neighbours.
        var validator: (route: Int, NotificationValidator)?
        func pack(_ notification: borrowing PushNotification, at index: Int) {
            var identity: Identity?
            if let repeatKey, let id = notification.id, !notification.hasAssignedID {
                identity = Identity(notification, id: id, submitter: name, key: repeatKey)
            }
            do throws(Refusal) {
                let number = try routes.route(for: notification)
                if validator?.route != number { validator = (number, routes.entries[number].validator) }
                try validator?.1.validate(notification, now: earliest)
                // By the earliest time that it may be: when it may go in truth, the Consumer says.
                let opening = notification.opening(at: earliest)
                let expiration = notification.expiration(
                    acceptedAt: max(now, opening ?? now), defaultLifetime: configuration.defaultLifetime)
                let id = notification.id ?? ids.removeLast()
                let impliedPriority = notification.priority == nil ? notification.impliedPriority : nil
                if let opening {
                    draft.schedule(index, for: opening)
                } else if configuration.supersedesLiveActivities {
                    draft.noteLiveActivity(notification, at: index, expiration: expiration)
                }
                let lane = routes.entries[number].lane(
                    of: notification, impliedPriority: impliedPriority, expiration: expiration)
                draft.append(
                    notification, at: index, route: number, lane: lane, id: id, identity: identity,
                    impliedPriority: impliedPriority, expiration: expiration, acceptedAt: now, producer: packedName,
                    newestWins: routes.entries[number].route.newestWins, keepsTrace: keepsTraces)
            } catch {
                draft.refuse(at: index, error, identity: identity)
            }
        }
        // Where they lie: a copy of each would be as many references to count as it has fields.
        let all = notifications.span
        for index in all.indices { pack(all[index], at: index) }
    }

    private func refuseBlacklisted(_ draft: inout SubmissionDraft, by routes: RouteTable, now: WallTime) {
        guard blacklist.count > 0 else { return }
        var lifted: [TokenRegistration] = []
        do throws(JournalError) {
            var found: [Int: [BlacklistEntry]] = [:]
            let lookup = try blacklist.storage.lookUp(draft.entryBatch())
            for (position, entry) in lookup.entries { found[position, default: []].append(entry) }
            // What cannot be read says nothing here: such an entry waits before it is handed out.
            for (position, entries) in found.sorted(by: { $0.key < $1.key }) {
                guard let address = draft.address(position) else { continue }
                let (topic, registeredAt) = (address.topic, address.registeredAt)
                let endpoint = routes.entries[address.route].route.connector.serviceIdentity
                if let entry = TokenBlacklist.forbidding(
                    entries, topic: topic, endpoint: endpoint, registeredAt: registeredAt, now: now)
                {
                    if let lane = routes.otherLane(for: address, forbidden: entry, by: entries, now: now) {
                        draft.move(position, to: lane)
                        continue
                    }
                    draft.refuse(position, Refusal(blacklisted: entry))
                } else if let registeredAt,
                    entries.contains(where: { $0.scope.covers(topic: topic, endpoint: endpoint) })
                {
                    lifted.append(
                        TokenRegistration(
                            recipient: entries[0].recipient, topic: topic, endpoint: endpoint,
                            registeredAt: registeredAt))
                }
            }
        } catch {
            draft.refuseAll(Refusal(.journalFailed, "the blacklist could not be read: \(error)"))
        }
        // For those who do not know when the token was registered. If it fails, this notification goes all the same, and
        // the next one with a registration tries again.
        if !lifted.isEmpty { blacklist.storage.lift(lifted) { _ in } }
    }
}
