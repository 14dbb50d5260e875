/// From a slice of notifications to a submission for the journal and back to receipts.
extension Producer {
    func submit(
        _ notifications: ArraySlice<PushNotification>, note: (name: String, value: [UInt8])?,
        onCommit: @escaping @Sendable ([Receipt]) -> Void
    ) {
        if let hold = state.withLock({ $0.hold }) {
            count(accepted: 0, refused: notifications.count)
            return onCommit(Array(repeating: .refused(hold), count: notifications.count))
        }
        var draft = SubmissionDraft(count: notifications.count)
        pack(notifications, into: &draft)
        refuseBlacklisted(&draft)
        let finished = draft
        let submission = finished.submission(producer: id, acceptedAt: clock.wall(), note: note)
        guard !submission.items.isEmpty || note != nil else {
            count(accepted: 0, refused: notifications.count)
            return onCommit(finished.refusals.map { .refused($0 ?? Self.nothingToSay) })
        }
        journal.append(submission) { [self] result in
            let receipts = finished.receipts(result)
            var accepted = 0
            switch result {
            case .success: accepted = submission.items.count
            case .failure(let error): stopIfFatal(error)
            }
            count(accepted: accepted, refused: receipts.count - accepted)
            onCommit(receipts)
        }
    }

    /// What was accepted is in the journal; what comes of the commit that failed is known when it has been reopened.
    private func stopIfFatal(_ error: JournalError) {
        guard error.code == .undetermined || error.code == .mustBeReopened else { return }
        let tell = state.withLock { state in
            state.hold = Refusal(.journalFailed, error.message)
            return state.onJournalFailure
        }
        tell?(error)
    }

    private func count(accepted: Int, refused: Int) {
        state.withLock { state in
            state.submitted += accepted
            state.refused += refused
        }
    }

    private static let nothingToSay = Refusal(.journalFailed, "nothing was submitted")

    private func pack(_ notifications: ArraySlice<PushNotification>, into draft: inout SubmissionDraft) {
        let now = clock.wall()
        let missingIDs = notifications.reduce(0) { $1.id == nil ? $0 + 1 : $0 }
        var ids = state.withLock { state in (0..<missingIDs).map { _ in state.ids.next() } }
        for (index, notification) in notifications.enumerated() {
            do throws(Refusal) {
                let route = routes.entries[try routes.route(for: notification.topic)]
                try route.validator.validate(notification, now: now)
                let expiration =
                    notification.expiration ?? .at(now.advanced(by: configuration.defaultLifetime).seconds)
                let id = notification.id ?? ids.removeLast()
                draft.append(
                    notification, at: index, lane: route.lane(of: notification, expiration: expiration), id: id,
                    expiration: expiration, acceptedAt: now)
            } catch {
                draft.refusals[index] = error
            }
        }
    }

    private func refuseBlacklisted(_ draft: inout SubmissionDraft) {
        guard blacklist.count > 0 else { return }
        do throws(JournalError) {
            let batch = draft.entryBatch()
            for (index, entry) in try blacklist.storage.entries(for: batch) {
                let registered = draft.registeredAt(index)
                guard TokenBlacklist.holds(entry, registeredAt: registered) else { continue }
                draft.refuse(
                    index,
                    Refusal(.blacklisted, "the token is blacklisted (\(entry.reason)) since \(entry.since.seconds)"))
            }
        } catch {
            draft.refuseAll(Refusal(.journalFailed, "the blacklist could not be read: \(error)"))
        }
    }
}

/// A submission in the making: what is packed, and which receipt belongs to which notification.
struct SubmissionDraft: Sendable {
    /// By index of the notification.
    var refusals: [Refusal?]
    private var bytes: [UInt8] = []
    private var packed: [(index: Int, item: Submission.Item)] = []

    init(count: Int) {
        refusals = Array(repeating: nil, count: count)
        bytes.reserveCapacity(count * 384)
        packed.reserveCapacity(count)
    }

    mutating func append(
        _ notification: PushNotification, at index: Int, lane: LaneID, id: NotificationID, expiration: Expiration,
        acceptedAt: WallTime
    ) {
        let start = bytes.count
        PackedNotification.append(
            notification, id: id, expiration: expiration, acceptedAt: acceptedAt, producer: "", to: &bytes)
        packed.append((index, Submission.Item(lane: lane, range: start..<bytes.count)))
    }

    /// The packed notifications as the blacklist reads them; their UIDs do not exist yet.
    func entryBatch() -> EntryBatch {
        EntryBatch(
            bytes: bytes,
            items: packed.map { EntryBatch.Item(uid: .none, attempts: 0, range: $0.item.range) })
    }

    /// - Parameter position: among the packed ones.
    func registeredAt(_ position: Int) -> WallTime? {
        // Packed by this struct a moment ago.
        try? PackedNotification.Fields(bytes.span, in: packed[position].item.range).tokenRegisteredAt
    }

    mutating func refuse(_ position: Int, _ refusal: Refusal) { refusals[packed[position].index] = refusal }

    mutating func refuseAll(_ refusal: Refusal) {
        for position in packed.indices { refuse(position, refusal) }
    }

    func submission(
        producer: ProducerID, acceptedAt: WallTime, note: (name: String, value: [UInt8])?
    ) -> Submission {
        Submission(
            producer: producer, acceptedAt: acceptedAt, bytes: bytes, items: packed.filter { refusals[$0.index] == nil }.map(\.item), note: note)
    }

    /// The receipts, in the order of the notifications. Accepted entries have consecutive UIDs.
    func receipts(_ result: Result<Appended, JournalError>) -> [Receipt] {
        var next: UInt64 = 0
        return refusals.map { refusal in
            if let refusal { return .refused(refusal) }
            switch result {
            case .success(let appended):
                defer { next += 1 }
                return .accepted(UID(appended.first.rawValue + next))
            case .failure(let error) where error.code == .undetermined:
                return .undetermined(error)
            case .failure(let error) where error.code == .limitReached:
                return .refused(Refusal(.journalFull, error.message))
            case .failure(let error):
                return .refused(Refusal(.journalFailed, error.message))
            }
        }
    }
}
