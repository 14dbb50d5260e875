/// Sends rejections again.
struct RejectionRetry: Sendable {
    let journal: any JournalService
    let clock: EngineClock
    let defaultLifetime: Duration

    /// Where an entry goes.
    struct Place {
        let lane: LaneID
        /// The push service, by its ``Connector/serviceIdentity``; nil when no engine says which, and what the blacklist has
        /// of any one counts.
        let endpoint: String?
    }

    /// - Parameter place: where the new entry goes, given the rejection and the expiration that it gets; or why it does not.
    func perform(
        _ uids: [UID], place: (Rejection, Expiration) throws(Refusal) -> Place
    ) async throws -> [Retry] {
        let now = clock.wall()
        var results: [UID: Retry.Result] = [:]
        var drafts: [String: Draft] = [:]
        for uid in uids where results[uid] == nil {
            guard let rejection = try rejection(uid) else {
                results[uid] = .gone
                continue
            }
            do throws(Refusal) {
                let expiration = renewed(rejection.notification.expiration, now: now)
                let place = try place(rejection, expiration)
                try checkBlacklist(rejection.notification, endpoint: place.endpoint, now: now)
                drafts[rejection.producer, default: Draft()].add(rejection, expiration, lane: place.lane, now: now)
                // To be overwritten; and so that nothing is taken twice that is named twice.
                results[uid] = .gone
            } catch {
                results[uid] = .refused(error)
            }
        }
        for (producer, draft) in drafts.sorted(by: { $0.key < $1.key }) {
            let id = try journal.openProducer(producer.isEmpty ? ProducerTable.standardName : producer)
            let submission = draft.submission(producer: id, now: now)
            let appended: Appended = try await journal.answer { journal.append(submission, completion: $0) }
            for (uid, result) in draft.results(appended) { results[uid] = result }
        }
        return uids.map { Retry(rejection: $0, result: results[$0] ?? .gone) }
    }

    private func rejection(_ uid: UID) throws(JournalError) -> Rejection? {
        guard uid > .none else { return nil }
        return try journal.rejections(after: UID(uid.rawValue - 1), limit: 1).first { $0.uid == uid }
    }

    /// An expiration that has passed would only expire again.
    private func renewed(_ expiration: Expiration?, now: WallTime) -> Expiration {
        if let expiration, expiration.deadline.map({ $0 > now.seconds }) ?? true { return expiration }
        let deadline = now.advanced(by: defaultLifetime).seconds
        return expiration?.moved(to: deadline) ?? .unstated(until: deadline)
    }

    private func checkBlacklist(_ notification: PushNotification, endpoint: String?, now: WallTime) throws(Refusal) {
        guard !notification.isBroadcast else { return }
        let entry: BlacklistEntry?
        do throws(JournalError) {
            entry = try TokenBlacklist(storage: journal.blacklist)
                .isBlacklisted(
                    notification.recipient, topic: notification.topic, endpoint: endpoint,
                    registeredAt: notification.tokenRegisteredAt, now: now)
        } catch {
            throw Refusal(.journalFailed, "the blacklist could not be read: \(error)")
        }
        guard let entry else { return }
        throw Refusal(
            .blacklisted,
            "the \(entry.recipient.noun) is blacklisted (\(entry.reason)) since \(Timestamp.format(entry.since)): take it off "
                + "the blacklist first")
    }
}

extension RejectionRetry {
    /// One Producer's.
    private struct Draft: Sendable {
        private var bytes: [UInt8] = []
        private var items: [Submission.Item] = []
        private var retries: [(index: Int, rejection: UID)] = []

        mutating func add(_ rejection: Rejection, _ expiration: Expiration, lane: LaneID, now: WallTime) {
            var notification = rejection.notification
            // It was asked for by its name: it goes whatever was accepted since, and takes nobody's place.
            notification.newestWins = false
            let start = bytes.count
            PackedNotification.append(
                notification, id: notification.id ?? NotificationID(), expiration: expiration, acceptedAt: now,
                producer: rejection.producer == ProducerTable.standardName ? "" : rejection.producer,
                retryOf: rejection.uid, to: &bytes)
            retries.append((items.count, rejection.uid))
            items.append(Submission.Item(lane: lane, range: start..<bytes.count))
        }

        func submission(producer: ProducerID, now: WallTime) -> Submission {
            Submission(producer: producer, acceptedAt: now, bytes: bytes, items: items, retries: retries)
        }

        func results(_ appended: Appended) -> [(UID, Retry.Result)] {
            var next = appended.first.rawValue
            let gone = Set(appended.gone)
            return retries.map { index, rejection in
                if gone.contains(index) { return (rejection, .gone) }
                defer { next += 1 }
                return (rejection, .accepted(UID(next)))
            }
        }
    }
}
