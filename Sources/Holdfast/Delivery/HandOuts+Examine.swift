extension HandOuts {
    /// A batch that was looked through, before anything is done about it.
    struct Examined {
        var flights: [SentWindow.Flight] = []
        /// In ascending order.
        var obstacles: [(position: Int, obstacle: Obstacle)] = []
        var news: [RouteNews] = []
    }

    /// A record that the journal took for sound, and whose notification is not.
    private struct UnreadablePosition: Error {
        let position: Int
        let fault: RecordFault
    }

    /// Examines a batch, and has moved aside what of it turns out to be unreadable.
    func examineReadable(
        _ batch: inout EntryBatch, lane index: Int, connection: Int, at now: Moment, possiblySent: (UID) -> Bool
    ) throws -> Examined {
        while true {
            do {
                return try examine(batch, lane: index, connection: connection, at: now, possiblySent: possiblySent)
            } catch let found as UnreadablePosition {
                let item = batch.items[found.position]
                quarantines.order([UnreadableEntry(uid: item.uid, fault: found.fault)], of: index, wall: now.wall) {
                    item.isPossiblySent || possiblySent($0)
                }
                batch = batch.removing([found.position])
            }
        }
    }

    private func examine(
        _ batch: EntryBatch, lane index: Int, connection: Int, at now: Moment, possiblySent: (UID) -> Bool
    ) throws -> Examined {
        // An entry that may go as a topic's probe is asked for once: nothing may be found unreadable behind it.
        if !judge.topicHold.isEmpty {
            for position in batch.items.indices { _ = try readableFields(of: batch, at: position) }
        }
        let (blacklisted, unreadable) = try lookUp(batch)
        let asksLater = judge.caution.hasSuspects || !judge.topicHold.isEmpty
        let supersedes = context.configuration.supersedesLiveActivities
        let holdsTags = !judge.tagHold.isEmpty
        let hasOneAttempt = lanes[index].hasOneAttempt
        let limits = context.connector.limits
        var examined = Examined()
        examined.flights.reserveCapacity(batch.count)
        for position in batch.items.indices {
            let fields = try readableFields(of: batch, at: position)
            let item = batch.items[position]
            let flight = SentWindow.Flight(
                item, fields, lane: index, hasOneAttempt: hasOneAttempt,
                topic: judge.breakers.number(of: fields.topic, in: batch.bytes),
                recipient: RefusedEntries.recipient(fields.address, in: batch.bytes),
                possiblySent: possiblySent(item.uid))
            examined.flights.append(flight)
            var obstacle = judge.obstacle(to: flight, fields, in: batch, blacklisted[position], wall: now.wall)
            if let entries = blacklisted[position] {
                obstacle = otherEnvironment(than: obstacle, of: flight, fields, batch, entries, wall: now.wall)
            }
            if obstacle == nil, !limits.takes(fields) { obstacle = .unsupported }
            if obstacle == nil, let fault = unreadable[position] {
                obstacle = unreadableBlacklist(fields, in: batch, fault, &examined)
            }
            if obstacle == nil, supersedes, try isSuperseded(flight.uid, fields, batch, wall: now.wall) {
                obstacle = .superseded
            }
            if obstacle == nil, fields.newestWins, try isNotNewest(flight.uid, fields, batch, wall: now.wall) {
                obstacle = .superseded
            }
            if obstacle == nil, holdsTags, let due = judge.tagHold.place(of: batch.bytes[fields.tag]) {
                obstacle = .tagPaused(until: due)
            }
            if obstacle == nil, let time = judge.schedule(fields, in: batch, wall: now.wall) {
                obstacle = .scheduled(for: time)
            }
            if obstacle == nil, asksLater {
                obstacle = judge.laterObstacle(to: flight, fields, in: batch, connection: connection, at: now)
            }
            if let obstacle { examined.obstacles.append((position, obstacle)) }
        }
        return examined
    }

    /// Looks whether an entry that the blacklist holds back goes to the other environment instead: it came after the one by
    /// which its token was found bad, or a crash came before that one was moved.
    private func otherEnvironment(
        than obstacle: Obstacle?, of flight: SentWindow.Flight, _ fields: PackedNotification.Fields,
        _ batch: EntryBatch,
        _ entries: [BlacklistEntry], wall: WallTime
    ) -> Obstacle? {
        switch obstacle {
        case .wasRejected?, .blacklisted?: break
        default: return obstacle
        }
        let routes = context.producer.terms.routes
        let topic = String(decoding: batch.bytes[fields.topic], as: UTF8.self)
        let forbidding = TokenBlacklist.forbidding(
            entries, topic: topic, endpoint: judge.service, registeredAt: fields.tokenRegisteredAt, now: wall)
        guard !flight.isMoved, forbidding?.looksLikeOtherEnvironment == true,
            let lane = routes.otherLane(
                than: lanes[flight.lane].id, of: context.name, topic: topic, registeredAt: fields.tokenRegisteredAt,
                blacklist: entries, now: wall)
        else { return obstacle }
        return .otherEnvironment(lane)
    }

    /// The blacklist's entries for the recipients of a batch, by position. Hardly ever are there any.
    private func lookUp(
        _ batch: EntryBatch
    ) throws -> (entries: [Int: [BlacklistEntry]], unreadable: [Int: RecordFault]) {
        guard context.producer.blacklist.count > 0 else { return ([:], [:]) }
        var entries: [Int: [BlacklistEntry]] = [:]
        var unreadable: [Int: RecordFault] = [:]
        let found = try context.producer.blacklist.storage.lookUp(batch)
        for (position, entry) in found.entries { entries[position, default: []].append(entry) }
        for (position, fault) in found.unreadable { unreadable[position] = fault }
        return (entries, unreadable)
    }

    private func readableFields(
        of batch: EntryBatch, at position: Int
    ) throws(UnreadablePosition) -> PackedNotification.Fields {
        do throws(PackedNotification.Damage) {
            return try batch.fields(at: position)
        } catch {
            throw UnreadablePosition(position: position, fault: RecordFault(error))
        }
    }

    /// A token has an unreadable record of the blacklist. It may forbid the entry, which therefore neither goes nor
    /// is rejected: it waits until the record is mended.
    private func unreadableBlacklist(
        _ fields: PackedNotification.Fields, in batch: EntryBatch, _ fault: RecordFault, _ examined: inout Examined
    ) -> Obstacle {
        examined.news.append(.blacklistUnreadable(fields.recipient(in: batch.bytes), fault))
        return .mustWait(context.configuration.probes.maximum, .blacklistUnreadable)
    }

    /// Whether a newer one of those was accepted of which the newest wins, and may still go.
    private func isNotNewest(
        _ uid: UID, _ fields: PackedNotification.Fields, _ batch: EntryBatch, wall: WallTime
    ) throws(JournalError) -> Bool {
        guard let key = NewestKey(fields, in: batch.bytes.span, key: context.journal.identityKey) else { return false }
        return try context.journal.newest(key)?.successor(of: uid, at: wall) != nil
    }

    /// Whether a newer update of the same live activity is on its way, or has arrived.
    private func isSuperseded(
        _ uid: UID, _ fields: PackedNotification.Fields, _ batch: EntryBatch, wall: WallTime
    ) throws(JournalError) -> Bool {
        guard fields.pushType == .liveactivity, let update = LiveActivityUpdate(batch.bytes.span, in: fields.payload),
            update.isUpdate
        else { return false }
        let activity = LiveActivityUpdates.Activity(
            recipient: fields.recipient(in: batch.bytes),
            topic: String(decoding: batch.bytes[fields.topic], as: UTF8.self))
        let successor = context.producer.shared.withLock { shared in
            shared.liveActivities.successor(of: update, of: activity, uid: uid, at: wall)
        }
        guard let successor else { return false }
        // One that was refused, say, or is to be told as expired, stands for nothing.
        return switch try context.journal.fate(of: successor.uid) {
        case .aside, .settled(.confirmed), nil: true
        case .unconfirmed, .deferred, .scheduled: !successor.isExpired
        case .settled, .quarantined: false
        }
    }
}
