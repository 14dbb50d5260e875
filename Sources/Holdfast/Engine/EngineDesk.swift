/// The ``OperatorDesk`` of a running engine. Calls about its lanes go through their Consumers, all others to the journal.
///
/// Calls about lanes that the engine serves wait for ``PushEngine/run()``, and fail once it has ended.
struct EngineDesk: FleetOrderDesk {
    let core: EngineCore

    var atRest: JournalDesk {
        JournalDesk(
            journal: core.journal, clock: core.producer.clock,
            defaultLifetime: core.producer.configuration.defaultLifetime)
    }

    func status() async throws -> DeskStatus {
        var status = core.status()
        for (route, topics) in status.topicsSetAside {
            status.topicsSetAside[route] = topics.map { topic in
                var topic = topic
                topic.waiting = waiting(for: topic)
                return topic
            }
        }
        let measured = core.observer.figures
        let routes = core.consumers.map { consumer in
            let (inFlight, suspects) = core.board.load(of: consumer.name)
            let connection = status.connections[consumer.name] ?? .idle
            let throttle = status.throttled[consumer.name]?.description
            let hold = status.holding[consumer.name]
            var route = DeskStatus.Route(
                name: consumer.name, endpoint: consumer.connector.endpoint,
                connection: throttle.map { "\(connection), \($0)" } ?? connection.description,
                isAway: connection.isAway, inFlight: inFlight, suspects: suspects,
                holding: hold.map { Self.words($0, on: consumer.name, status) },
                topics: status.topicsSetAside[consumer.name] ?? [])
            let pool = core.board.connections(of: consumer.name)
            (route.connections, route.connectionLimit) = (pool?.count, pool?.limit)
            return route
        }
        var desk = try atRest.status(isServed: { core.server(of: $0) != nil }, routes: routes)
        let laneIDs = core.registry.withLock(\.laneIDs)
        for index in desk.lanes.indices {
            desk.lanes[index].nextProbeAt = status.lanes.first { $0.key == desk.lanes[index].key }?.nextProbeAt
            guard desk.lanes[index].unconfirmed > 0, let id = laneIDs[desk.lanes[index].key] else { continue }
            desk.lanes[index].oldestAcceptedAt = oldestAcceptedAt(id)
        }
        desk.figures = DeskStatus.Figures(
            status, answers: DeskStatus.Times(measured.answers), commits: DeskStatus.Times(measured.commits))
        desk.conditions = status.conditions.counted(
            held: Dictionary(desk.pausedTags.map { (TagPause.name(of: $0.tag), $0.held) }, uniquingKeysWith: +)
        ).counted(topics: status.topicsSetAside, lanes: desk.lanes)
        desk.takenOver = core.observer.conditions.takenOver
        desk.blacklistDamage = status.blacklistDamage
        let newest = core.journal.outcomeLog.newest
        desk.ownReaders = core.readerReports.withLock { $0 }.sorted { $0.key < $1.key }.map { name, report in
            DeskStatus.Reader(
                name: name, unread: Int(clamping: newest.rawValue - min(report.cursor, newest).rawValue),
                trouble: report.trouble, notice: report.notice)
        }
        return desk
    }

    /// The entries that wait for a topic, one by one, as with a paused tag; nil where they can't be read.
    private func waiting(for topic: EngineStatus.Topic) -> Int? {
        do {
            var count = 0
            for (lane, places) in topic.places {
                for place in places { count += try core.journal.deferredCount(lane, dueAt: place) }
            }
            return count
        } catch {
            return nil
        }
    }

    /// As of now: the measured one is of some seconds ago. Nil for none, and for one that can't be read; who must read it to
    /// send it tells of that.
    private func oldestAcceptedAt(_ lane: LaneID) -> WallTime? {
        do {
            let first = try core.journal.unconfirmed(lane, after: .none, through: .max, limit: 1)
            return first.isEmpty ? nil : try first.fields(at: 0).acceptedAt
        } catch {
            return nil
        }
    }

    private static func words(_ hold: HoldReason, on route: String, _ status: EngineStatus) -> String {
        let details =
            switch hold {
            case .throttled: status.throttled[route]?.description
            case .parked: status.parked[route]?.description
            case .ownershipUnproven, .payloadError, .outcomesFull, .journalUnreadable: String?.none
            }
        return details ?? hold.description
    }

    func insights(_ uids: [UID]) async throws -> [EntryInsight] {
        var insights: [EntryInsight] = []
        for consumer in core.consumers {
            insights += await withCheckedContinuation { continuation in
                let inquiry = Inquiry(uids: uids) { continuation.resume(returning: $0) }
                if !consumer.post({ $0.inquiries.append(inquiry) }) { continuation.resume(returning: []) }
            }
        }
        return insights
    }

    // MARK: Lanes

    func pause(_ lane: LaneKey, reason: String) async throws {
        guard core.server(of: lane) != nil else { return try await atRest.pause(lane, reason: reason) }
        try await core.journal.answer { core.pause(lane, reason: reason, completion: $0) }
    }

    func resume(_ lane: LaneKey) async throws {
        guard core.server(of: lane) != nil else { return try await atRest.resume(lane) }
        try await core.journal.answer { core.resume(lane, completion: $0) }
    }

    func connect(route: String) async throws {
        try await core.journal.answer { core.hurry(route: route, completion: $0) }
    }

    // MARK: Tags

    func pause(tag: [UInt8], reason: String) async throws { try await pause(tag, reason) }

    func pauseForFleet(tag: [UInt8], reason: String) async throws { try await pause(tag, reason, isOfFleet: true) }

    private func pause(_ tag: [UInt8], _ reason: String, isOfFleet: Bool = false) async throws {
        let now = core.producer.clock.wall()
        try await change { (pauses) throws(JournalError) in
            try pauses.pause(tag, reason: reason, at: now, isOfFleet: isOfFleet)
        }
    }

    func resume(tag: [UInt8]) async throws {
        try await change { (pauses) throws(JournalError) in try pauses.resume(tag) }
    }

    func resumeAllTags() async throws { try await change { (pauses) throws(JournalError) in pauses.resumeAll() } }

    private func change(_ change: (inout TagPauses) throws(JournalError) -> Void) async throws {
        await core.pausing.enter()
        defer { core.pausing.leave() }
        try core.changePausedTags(change)
        await withCheckedContinuation { continuation in core.heedPausedTags { continuation.resume() } }
    }

    // MARK: Credentials

    func reloadCredentials() async throws -> [CredentialReload] { await core.reloadCredentials() }

    // MARK: Entries

    func submit(_ notifications: [PushNotification]) async throws -> [Receipt] {
        await core.producer.submit(notifications)
    }

    func submit(
        _ notifications: [PushNotification], as producer: String?, note: RestoreNote?
    ) async throws -> [Receipt] {
        guard let note else { return try await core.submit(notifications, as: producer, note: nil) }
        await core.restoring.enter()
        defer { core.restoring.leave() }
        try core.journal.check(note)
        return try await core.submit(notifications, as: producer, note: (note.name, note.value))
    }

    /// An entry goes to another lane once or twice.
    private static let withdrawalRounds = 10

    func withdraw(_ uids: [UID]) async throws -> Withdrawal {
        var total = Withdrawal()
        var left = Set(uids).sorted()
        // What has gone to another lane meanwhile is taken back there.
        for _ in 0..<Self.withdrawalRounds {
            var waiting: [(uid: UID, lane: LaneKey)] = []
            for uid in left {
                if let lane = try core.journal.fate(of: uid)?.lane { waiting.append((uid, lane)) }
            }
            guard !waiting.isEmpty else {
                total.gone = uids.count - total.withdrawn - total.unknown
                return total
            }
            let part = try await withdraw(waiting)
            total += part
            left = part.withdrawn + part.unknown < waiting.count ? waiting.map(\.uid) : []
        }
        throw JournalError(
            .inUse, "not all of \(counted(left.count, "notification", "notifications")) could be taken back: try again")
    }

    private func withdraw(_ waiting: [(uid: UID, lane: LaneKey)]) async throws -> Withdrawal {
        var byLane: [LaneKey: [UID]] = [:]
        var total = Withdrawal()
        var others: [UID] = []
        for (uid, lane) in waiting {
            if core.server(of: lane) == nil { others.append(uid) } else { byLane[lane, default: []].append(uid) }
        }
        for (lane, uids) in byLane.sorted(by: { $0.key.description < $1.key.description }) {
            total += try await core.journal.answer { core.withdraw(uids, from: lane, completion: $0) }
        }
        if !others.isEmpty { total += try await atRest.withdraw(others) }
        return total
    }

    func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID] {
        // One after the other: between the look at the note and its commit nobody else may take the same.
        await core.restoring.enter()
        defer { core.restoring.leave() }
        core.beginRestoring()
        defer { core.endRestoring() }
        let now = core.producer.clock.wall()
        let uids = try await atRest.restore(entries, now: now, earliestTime: core.timeToRemember(now), note: note)
        core.producer.count(accepted: uids.count, refusals: [:])
        return uids
    }

    // MARK: Rejections

    func retry(_ rejections: [UID]) async throws -> [Retry] {
        let producer = core.producer
        let terms = producer.terms
        let now = producer.earliest(producer.clock.wall())
        let retries = try await RejectionRetry(
            journal: core.journal, clock: producer.clock, defaultLifetime: terms.configuration.defaultLifetime
        ).perform(rejections) { rejection, expiration throws(Refusal) in
            let notification = rejection.notification
            var renewed = notification
            // In its old environment, if that is served still.
            renewed.preferredEnvironment = rejection.lane.flatMap {
                terms.routes.entry(of: $0.route)?.route.environment
            }
            let route = terms.routes.entries[try terms.routes.route(for: renewed)]
            renewed.expiration = expiration
            try route.validator.validate(renewed, now: now)
            return RejectionRetry.Place(
                lane: route.lane(of: notification, expiration: expiration),
                endpoint: route.route.connector.serviceIdentity)
        }
        let accepted = retries.count { retry in if case .accepted = retry.result { true } else { false } }
        producer.count(accepted: accepted, refusals: [:])
        return retries
    }

    func discard(_ rejections: [UID]) async throws -> Int { try await atRest.discard(rejections) }

    func retryQuarantined(_ uids: [UID]) async throws -> [UID] {
        // They are deferred, and may lie ahead of the reading.
        core.beginRestoring()
        defer { core.endRestoring() }
        return try await atRest.retryQuarantined(uids)
    }

    // MARK: The blacklist

    func blacklist(_ entries: [BlacklistEntry]) async throws { try await atRest.blacklist(entries) }

    func unblacklist(_ keys: [BlacklistKey]) async throws -> Int { try await atRest.unblacklist(keys) }
}

extension DeskStatus.Times {
    init(_ times: EngineObserver.TimeTotal) {
        self.init(count: times.count, total: times.total, buckets: times.buckets)
    }
}

extension EngineStatus.ConnectionState: CustomStringConvertible {
    /// The state in words, for operators.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting: "connecting"
        case .connected: "connected"
        case .waiting(let error): "away: \(error)"
        }
    }

    var isAway: Bool { if case .waiting = self { true } else { false } }
}
