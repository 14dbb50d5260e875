/// The ``OperatorDesk`` of a journal that no engine uses.
public struct JournalDesk: OperatorDesk {
    let journal: any JournalService
    let clock: EngineClock
    /// The lifetime, from the retry on, of a rejection whose expiration has passed.
    let defaultLifetime: Duration

    /// Creates a desk.
    ///
    /// - Parameters:
    ///   - journal: open, and used by no engine.
    ///   - defaultLifetime: the lifetime, from the retry on, of a rejection whose expiration has passed.
    ///     Default: that of ``EngineConfiguration``.
    public init(
        journal: any Journal, clock: EngineClock = .system,
        defaultLifetime: Duration = EngineConfiguration().defaultLifetime
    ) {
        self.journal = journal.handle.service
        self.clock = clock
        self.defaultLifetime = defaultLifetime
    }

    /// The lanes of the journal. No lane is served, and there are no routes.
    public func status() async throws -> DeskStatus { try status(isServed: { _ in false }, routes: []) }

    func status(isServed: (LaneKey) -> Bool, routes: [DeskStatus.Route]) throws -> DeskStatus {
        let lanes = try journal.status().lanes.map { lane in
            DeskStatus.Lane(
                key: lane.key, state: lane.state, unconfirmed: lane.unconfirmed, deferred: lane.deferred,
                scheduled: lane.scheduled, isServed: isServed(lane.key),
                heldByTag: lane.heldByTag)
        }
        var status = DeskStatus(lanes: lanes, routes: routes)
        status.pausedTags = try pausedTags()
        status.history = try history()
        return status
    }

    /// Returns nothing: no process works on the entries.
    public func insights(_ uids: [UID]) async throws -> [EntryInsight] { [] }

    // MARK: Lanes

    /// Notes in the journal, durably on return, that the lane is paused.
    public func pause(_ lane: LaneKey, reason: String) async throws {
        try await setState(of: lane, to: .paused(reason: reason, since: clock.wall()))
    }

    /// Notes in the journal, durably on return, that the lane runs.
    public func resume(_ lane: LaneKey) async throws { try await setState(of: lane, to: .running) }

    /// Throws ``JournalError`` with code ``JournalError/Code/notFound``: without an engine there are no routes.
    public func connect(route: String) async throws {
        throw JournalError(.notFound, "no engine delivers this journal, so no route can try anything")
    }

    private func setState(of lane: LaneKey, to state: LaneState) async throws {
        guard let id = try laneIDs()[lane] else {
            throw JournalError(.notFound, "the journal has no lane \(lane)")
        }
        try await journal.answer { journal.setState(of: id, to: state, completion: $0) }
    }

    func laneIDs() throws -> [LaneKey: LaneID] {
        Dictionary(uniqueKeysWithValues: try journal.status().lanes.map { ($0.key, $0.id) })
    }

    // MARK: Entries

    /// Throws ``JournalError`` with code ``JournalError/Code/notFound``: without an engine there are no routes.
    public func submit(_ notifications: [PushNotification]) async throws -> [Receipt] {
        throw JournalError(
            .notFound, "no engine delivers this journal, and only its routes say where a notification goes")
    }

    /// Throws ``JournalError`` with code ``JournalError/Code/notFound``: without an engine there are no routes.
    public func submit(
        _ notifications: [PushNotification], as producer: String?, note: RestoreNote?
    ) async throws -> [Receipt] {
        try await submit(notifications)
    }

    /// Takes entries back, durably on return. A possibly sent one becomes *unknown*.
    public func withdraw(_ uids: [UID]) async throws -> Withdrawal {
        let lanes = try laneIDs()
        var settlements: [Settlement] = []
        for uid in Set(uids).sorted() {
            switch try journal.fate(of: uid) {
            case .unconfirmed(let lane, attempts: _, let possiblySent)?:
                guard let id = lanes[lane] else { continue }
                settlements.append(Settlement(EntryKey(lane: id, uid: uid), possiblySent ? .withdrawSent : .withdraw))
            case .deferred(let lane, until: _, attempts: _, reason: _)?, .scheduled(let lane, for: _, attempts: _)?:
                guard let id = lanes[lane] else { continue }
                // Its record says whether it may have been sent.
                settlements.append(Settlement(EntryKey(lane: id, uid: uid), .withdraw))
            case .quarantined(let lane, let possiblySent)?:
                guard let id = lanes[lane] else { continue }
                settlements.append(Settlement(EntryKey(lane: id, uid: uid), possiblySent ? .withdrawSent : .withdraw))
            case .settled?, .aside?, nil:
                continue
            }
        }
        return Withdrawal(try await settle(settlements), asked: uids.count)
    }

    private func settle(_ settlements: [Settlement]) async throws -> SettlementReport {
        guard !settlements.isEmpty else { return SettlementReport() }
        let batch = SettlementBatch(
            others: settlements, settledAt: clock.wall(), keepsOutcomes: try keepsOutcomes())
        return try await journal.answer { journal.settle(batch, completion: $0) }
    }

    /// Returns nothing: no connector is in use.
    public func reloadCredentials() async throws -> [CredentialReload] { [] }

    /// Puts entries of another journal into this one, in one commit that is durable on return.
    public func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID] {
        let now = clock.wall()
        // A journal that knows no time has it from whoever is first: a clock that jumps ahead later must be found out.
        return try await restore(
            entries, now: now, earliestTime: journal.wallTimeAtOpen == nil ? now : nil, note: note)
    }

    /// - Parameter earliestTime: what the journal remembers as its last time; nil for what it knows.
    func restore(
        _ entries: [RestoredEntry], now: WallTime, earliestTime: WallTime?, note: RestoreNote?
    ) async throws -> [UID] {
        guard !entries.isEmpty || note != nil else { return [] }
        if let note { try journal.check(note) }
        for entry in entries {
            guard let contradiction = entry.contradiction else { continue }
            throw JournalError(
                .invalidEntry,
                "notification \(entry.notification.id.map { "\($0)" } ?? "without an id") can't be taken: \(contradiction)"
            )
        }
        var draft = RestoreDraft()
        for entry in entries {
            let lane = try journal.openLane(entry.lane).id
            draft.add(entry, lane: lane, producer: try journal.openProducer(entry.producer))
        }
        let producer = try draft.firstProducer ?? journal.openProducer(ProducerTable.standardName)
        let submission = draft.submission(
            producer: producer, now: now, earliestTime: earliestTime, note: note.map { ($0.name, $0.value) })
        let appended: Appended = try await journal.answer { journal.append(submission, completion: $0) }
        return entries.indices.map { UID(appended.first.rawValue + UInt64($0)) }
    }

    // MARK: Rejections

    /// Makes a new entry of each rejection, durably on return; it is sent when an engine runs again.
    public func retry(_ rejections: [UID]) async throws -> [Retry] {
        let lanes = try laneIDs()
        return try await RejectionRetry(
            journal: journal, clock: clock, defaultLifetime: defaultLifetime
        ).perform(rejections) { rejection, _ throws(Refusal) in
            guard let lane = rejection.lane, let id = lanes[lane] else {
                throw Refusal(.journalFailed, "the lane of rejection \(rejection.uid) is not known any more")
            }
            return RejectionRetry.Place(lane: id, endpoint: nil)
        }
    }

    /// Deletes rejections, durably on return.
    ///
    /// - Returns: how many there were.
    public func discard(_ rejections: [UID]) async throws -> Int { try journal.removeRejections(rejections) }

    /// Brings back, durably on return, quarantined entries whose records can be read.
    ///
    /// - Returns: the UIDs of those that wait again.
    public func retryQuarantined(_ uids: [UID]) async throws -> [UID] {
        guard !uids.isEmpty else { return [] }
        return try await journal.answer { journal.retryQuarantined(uids, now: clock.wall(), completion: $0) }
    }

    // MARK: The blacklist

    /// Adds entries to the blacklist, durably on return.
    public func blacklist(_ entries: [BlacklistEntry]) async throws {
        try await TokenBlacklist(storage: journal.blacklist).add(entries)
    }

    /// Removes entries from the blacklist, durably on return.
    ///
    /// - Returns: how many there were.
    public func unblacklist(_ keys: [BlacklistKey]) async throws -> Int {
        try TokenBlacklist(storage: journal.blacklist).remove(keys)
    }
}

extension JournalService {
    /// - Throws: ``JournalError`` with code `inUse` when the note has changed since it was read.
    func check(_ note: RestoreNote) throws(JournalError) {
        guard note.isChecked, try self.note(note.name) != note.before else { return }
        throw JournalError(
            .inUse,
            "somebody else has taken some of it meanwhile, and nothing more of it was taken: run the command again")
    }

    /// Waits for the completion of a call.
    func answer<Value: Sendable>(
        _ call: (@escaping @Sendable (Result<Value, JournalError>) -> Void) -> Void
    ) async throws -> Value {
        let result: Result<Value, JournalError> = await withCheckedContinuation { continuation in
            call { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
