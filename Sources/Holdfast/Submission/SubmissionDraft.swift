/// A submission in the making: what is packed, and which receipt belongs to which notification.
struct SubmissionDraft: Sendable {
    private struct Packed: Sendable {
        /// Of the notification.
        let index: Int
        var item: Submission.Item
        let identity: Identity?
        /// The index of its route.
        let route: Int
        /// Whether its submitter has chosen the environment.
        let namesEnvironment: Bool
    }

    private(set) var count: Int
    /// By index of the notification. Hardly ever is there one, and nothing is spent on those that have none.
    private var refusals: [Int: Refusal] = [:]
    /// The identities of refused notifications that the journal may remember, by index of the notification.
    private var inquiries: [Int: Identity] = [:]
    private var bytes: [UInt8] = []
    private var packed: [Packed] = []
    /// The times that notifications are scheduled for, by index of the notification.
    private var times: [Int: WallTime] = [:]
    /// Updates of live activities, by index of the notification.
    private(set) var liveActivities: [(index: Int, LiveActivityUpdates.Activity, LiveActivityUpdate)] = []

    init(count: Int) {
        self.count = count
        bytes.reserveCapacity(count * 384)
        packed.reserveCapacity(count)
    }

    mutating func append(
        _ notification: borrowing PushNotification, at index: Int, route: Int, lane: LaneID, id: NotificationID,
        identity: Identity?, impliedPriority: Priority? = nil, expiration: Expiration, acceptedAt: WallTime,
        producer: String, newestWins: Bool, keepsTrace: Bool = false
    ) {
        let start = bytes.count
        PackedNotification.append(
            notification, id: id, impliedPriority: impliedPriority, expiration: expiration, acceptedAt: acceptedAt,
            producer: producer, newestWins: newestWins, keepsTrace: keepsTrace, to: &bytes)
        let item = Submission.Item(lane: lane, range: start..<bytes.count)
        packed.append(
            Packed(
                index: index, item: item, identity: identity, route: route,
                namesEnvironment: notification.environment != nil))
    }

    /// The notification may not go out before `time`.
    mutating func schedule(_ index: Int, for time: WallTime) { times[index] = time }

    mutating func noteLiveActivity(
        _ notification: borrowing PushNotification, at index: Int, expiration: Expiration
    ) {
        guard notification.pushType == .liveactivity,
            var update = LiveActivityUpdate(notification.payload.span, in: 0..<notification.payload.count)
        else { return }
        update.expiration = expiration.deadline ?? 0
        let activity = LiveActivityUpdates.Activity(recipient: notification.recipient, topic: notification.topic)
        liveActivities.append((index, activity, update))
    }

    /// The packed notifications as the blacklist reads them; their UIDs do not exist yet.
    func entryBatch() -> EntryBatch {
        EntryBatch(
            bytes: bytes,
            items: packed.map { EntryBatch.Item(uid: .none, attempts: 0, range: $0.item.range) })
    }

    /// What decides whether an entry of the blacklist holds for a notification.
    struct Address {
        let topic: String
        let registeredAt: WallTime?
        /// The index of its route.
        let route: Int
        let lane: LaneID
        let namesEnvironment: Bool
    }

    /// - Parameter position: among the packed ones.
    func address(_ position: Int) -> Address? {
        let packed = packed[position]
        // Packed by this struct a moment ago.
        guard let fields = try? PackedNotification.Fields(bytes.span, in: packed.item.range) else { return nil }
        return Address(
            topic: String(decoding: bytes[fields.topic], as: UTF8.self), registeredAt: fields.tokenRegisteredAt,
            route: packed.route, lane: packed.item.lane, namesEnvironment: packed.namesEnvironment)
    }

    /// Has a notification go by another lane.
    ///
    /// - Parameter position: among the packed ones.
    mutating func move(_ position: Int, to lane: LaneID) {
        packed[position].item = Submission.Item(lane: lane, range: packed[position].item.range)
    }

    /// - Parameters:
    ///   - index: of a notification that can't be packed.
    ///   - identity: what the journal is asked for. One that was taken before is a repeat: it was good then, and time,
    ///     blacklist or routes have changed since.
    mutating func refuse(at index: Int, _ refusal: Refusal, identity: Identity? = nil) {
        refusals[index] = refusal
        if let identity { inquiries[index] = identity }
    }

    /// - Parameter position: among the packed ones.
    mutating func refuse(_ position: Int, _ refusal: Refusal) {
        refuse(at: packed[position].index, refusal, identity: packed[position].identity)
    }

    /// Refuses everything for now, without a look-up of repeats, which are submitted again.
    mutating func refuseAll(_ refusal: Refusal) {
        for packed in packed { refuse(at: packed.index, refusal) }
    }

    /// Forgets everything behind the first refusal.
    mutating func cutBehindRefusal() {
        guard let first = refusals.keys.min() else { return }
        refusals = refusals.filter { $0.key == first }
        inquiries = inquiries.filter { $0.key == first }
        count = first + 1
        packed.removeAll { $0.index > first }
        liveActivities.removeAll { $0.index > first }
    }

    /// The packed notifications to append.
    private var remaining: [Packed] {
        refusals.isEmpty ? packed : packed.filter { refusals[$0.index] == nil }
    }

    /// The notifications that the journal is asked for, in its order.
    private var inquired: [Int] { inquiries.isEmpty ? [] : inquiries.keys.sorted() }

    func submission(
        producer: ProducerID, acceptedAt: WallTime, earliestTime: WallTime?, note: (name: String, value: [UInt8])?,
        taking rows: [QueueRow] = []
    ) -> Submission {
        let remaining = remaining
        var identities: [(index: Int, identity: Identity)] = []
        var schedules: [(index: Int, time: WallTime)] = []
        for (index, packed) in remaining.enumerated() {
            if let identity = packed.identity { identities.append((index, identity)) }
            if !times.isEmpty, let time = times[packed.index] { schedules.append((index, time)) }
        }
        // Without any to append, nothing is to be written.
        let appends = !remaining.isEmpty || note != nil
        var submission = Submission(
            producer: producer, acceptedAt: acceptedAt, earliestTime: appends ? earliestTime : nil,
            bytes: remaining.isEmpty ? [] : bytes, items: remaining.map(\.item), identities: identities,
            inquiries: inquired.compactMap { inquiries[$0] }, schedules: schedules, note: note)
        if !rows.isEmpty { submission.taking = remaining.map { rows[$0.index] } }
        return submission
    }

    /// The receipts, in the order of the notifications. New entries have consecutive UIDs.
    func receipts(_ result: Result<Appended, JournalError>) -> [Receipt] {
        var next: UInt64 = 0
        var item = 0
        var repeats: ArraySlice<Appended.Repeat> = []
        if case .success(let appended) = result { repeats = appended.repeats[...] }
        let known = known(result)
        return (0..<count).map { index in
            if !refusals.isEmpty, let refusal = refusals[index] { return known[index] ?? .refused(refusal) }
            defer { item += 1 }
            switch result {
            case .success(let appended):
                if let known = repeats.first, known.index == item {
                    repeats.removeFirst()
                    return known.receipt
                }
                defer { next += 1 }
                return .accepted(UID(appended.first.rawValue + next))
            case .failure(let error) where error.code == .undetermined:
                return .undetermined(error)
            case .failure(let error):
                return .refused(Refusal(of: error))
            }
        }
    }

    /// The receipts of those that would be refused and are known to the journal, by index of the notification; where it
    /// could not be asked, a refusal for now.
    private func known(_ result: Result<Appended, JournalError>) -> [Int: Receipt] {
        guard !inquiries.isEmpty else { return [:] }
        let inquired = inquired
        switch result {
        case .success(let appended):
            return Dictionary(uniqueKeysWithValues: appended.known.map { (inquired[$0.index], $0.receipt) })
        case .failure(let error):
            let refusal = Refusal(of: error)
            return Dictionary(uniqueKeysWithValues: inquired.map { ($0, .refused(refusal)) })
        }
    }
}

extension Appended.Repeat {
    /// While the first one is unconfirmed, its receipt.
    fileprivate var receipt: Receipt { outcome.map { .repeated(uid, $0) } ?? .accepted(uid) }
}

extension Refusal {
    /// The journal did not take it.
    fileprivate init(of error: JournalError) {
        let reason: Reason =
            switch error.code {
            case .limitReached, .diskFull: .journalFull
            case .unreachable: .journalUnreachable
            default: .journalFailed
            }
        self.init(reason, error.message)
    }
}
