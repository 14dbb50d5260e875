/// Accepts notifications.
///
/// It works before ``PushEngine/run()`` and without a connection: accepted notifications wait in the journal.
public final class Producer: Sendable {
    /// The name that is stored with each of its notifications.
    public let name: String
    let id: ProducerID
    let journal: any JournalService
    let blacklist: TokenBlacklist
    package let clock: EngineClock
    /// Of all Producers of the engine.
    let shared: Monitor<ProducerTable.Shared>
    /// The tasks of all Producers of the engine that wait for room in the journal.
    let room: RoomGate
    private let clockTrust: ClockTrust
    /// Nil while nothing is traced.
    let tracer: NotificationTracer?
    /// The tasks that wait until nothing of this Producer is unconfirmed.
    private let waiters = Monitor(Waiters())

    private struct Waiters: Sendable {
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var next = 0
        var hasEnded = false
    }

    init(
        name: String, id: ProducerID, journal: any JournalService, clock: EngineClock,
        shared: Monitor<ProducerTable.Shared>, room: RoomGate, clockTrust: ClockTrust, tracer: NotificationTracer?
    ) {
        self.tracer = tracer
        self.name = name
        self.room = room
        self.clockTrust = clockTrust
        self.id = id
        self.shared = shared
        self.journal = journal
        self.clock = clock
        blacklist = TokenBlacklist(storage: journal.blacklist)
    }

    /// As of now: a reconfiguration exchanges them.
    var terms: ProducerTable.Terms { shared.withLock(\.terms) }
    var configuration: EngineConfiguration { terms.configuration }

    /// The earliest possible present time, while the wall clock says `wall`. Only an expiration before it is refused: others,
    /// if the clock is ahead, are accepted and wait until the clock is trusted.
    func earliest(_ wall: WallTime) -> WallTime {
        look(wall).earliest
    }

    func look(_ wall: WallTime) -> ClockTrust.Reading { clockTrust.look(wall: wall, monotonic: clock.monotonic()) }

    /// The time that the journal is to store as its last one. A doubted clock's is never stored, so a restart doubts it too.
    func timeToRemember(_ reading: ClockTrust.Reading) -> WallTime? { reading.memory }

    /// Whether anything is taken at all.
    package var isAccepting: Bool { shared.withLock { $0.end == nil && $0.blacklistFailure == nil } }

    /// Submits a batch, durably on return at the journal's durability level. The other calls are conveniences over this one.
    ///
    /// Each notification is checked by itself: an invalid one is refused, and the others are accepted. They are in one commit
    /// (more than ``EngineConfiguration/submissionChunk`` in several). For a full journal see ``EngineConfiguration/whenFull``.
    ///
    /// - Returns: a receipt for each notification, in order.
    public func submit(_ notifications: [PushNotification]) async -> [Receipt] {
        let receipts = await submitOnce(notifications)
        guard case .wait(let limit) = configuration.whenFull else { return receipts }
        return await waitForRoom(notifications, receipts, atMost: limit)
    }

    func submitOnce(_ notifications: [PushNotification]) async -> [Receipt] {
        await submit(notifications, note: nil)
    }

    /// Submits one notification. Durable on return. Costs a commit of its own unless others submit at the same time.
    ///
    /// - Throws: ``Refusal``, or ``JournalError`` if it is unknown whether it is on disk.
    @discardableResult
    public func submit(_ notification: PushNotification) async throws -> UID {
        try await submit([notification])[0].get()
    }

    /// Submits one notification to many devices: one UID each, and an apns-id each unless it has one.
    ///
    /// - Returns: a receipt for each token, in order.
    public func submit(_ notification: PushNotification, to tokens: [DeviceToken]) async -> [Receipt] {
        await submit(
            tokens.map { token in
                var copy = notification
                copy.recipient = .device(token)
                return copy
            })
    }

    /// Submits a batch without waiting, for event loops.
    ///
    /// - Parameter onCommit: gets a receipt for each notification, in order, when the commit is durable. Called on the
    ///   journal's thread, or before this returns if nothing is written. It must not block.
    public func submit(_ notifications: [PushNotification], onCommit: @escaping @Sendable ([Receipt]) -> Void) {
        submit(notifications, note: nil) { receipts, _ in onCommit(receipts) }
    }

    /// Submits a batch without waiting, and counts repeats. (``Receipt/accepted(_:)`` also answers the repeat of a notification
    /// that still waits.)
    ///
    /// - Parameter onCommit: gets the receipts, and the number of notifications that had been accepted before.
    package func submitTellingRepeats(
        _ notifications: [PushNotification],
        onCommit: @escaping @Sendable (_ receipts: [Receipt], _ repeats: Int) -> Void
    ) {
        submit(notifications, note: nil, onCommit: onCommit)
    }

    /// Submits a batch together with a note that becomes durable in the same commit, such as how far a file was imported. The
    /// batch is not split, and may be empty.
    package func submit(
        _ notifications: [PushNotification], note: (name: String, value: [UInt8])?
    ) async -> [Receipt] {
        await withCheckedContinuation { continuation in
            submit(notifications, note: note) { receipts, _ in continuation.resume(returning: receipts) }
        }
    }

    private func submit(
        _ notifications: [PushNotification], note: (name: String, value: [UInt8])?,
        onCommit: @escaping @Sendable (_ receipts: [Receipt], _ repeats: Int) -> Void
    ) {
        let chunk = note == nil ? max(configuration.submissionChunk, 1) : notifications.count
        guard notifications.count > chunk else {
            return submit(notifications[...], note: note, onCommit: onCommit)
        }
        let chunks = stride(from: 0, to: notifications.count, by: chunk).map { start in
            notifications[start..<min(start + chunk, notifications.count)]
        }
        let gathered = Monitor<[(receipts: [Receipt], repeats: Int)?]>(Array(repeating: nil, count: chunks.count))
        for (index, slice) in chunks.enumerated() {
            submit(slice, note: nil) { receipts, repeats in
                let all = gathered.withLock { parts in
                    parts[index] = (receipts, repeats)
                    let present = parts.compactMap { $0 }
                    return present.count == parts.count ? present : nil
                }
                if let all { onCommit(all.flatMap(\.receipts), all.reduce(0) { $0 + $1.repeats }) }
            }
        }
    }

    /// Submits a batch up to the first refusal, for protocols in which an error discards everything after it. The batch is not
    /// split.
    ///
    /// - Parameter onCommit: as in ``submit(_:onCommit:)``. Notifications after a refusal are ignored, and get no receipt.
    package func submitUpToRefusal(
        _ notifications: [PushNotification], onCommit: @escaping @Sendable ([Receipt]) -> Void
    ) {
        submit(notifications[...], note: nil, stopsAtRefusal: true) { receipts, _ in onCommit(receipts) }
    }

    /// Submits rows of the queue that the journal shares with applications. The batch is not split. See
    /// ``Submission/taking``.
    ///
    /// - Parameter rows: one for each notification.
    package func submit(
        _ notifications: [PushNotification], taking rows: [QueueRow],
        onCommit: @escaping @Sendable ([Receipt]) -> Void
    ) {
        precondition(rows.count == notifications.count, "each notification has a row")
        submit(notifications[...], note: nil, taking: rows) { receipts, _ in onCommit(receipts) }
    }

    // MARK: Until drained

    /// The number of accepted notifications of this name without an outcome, including those of earlier processes.
    public var backlog: Int { journal.backlog(of: id) }

    /// Waits until every notification of this name has its outcome. Needs ``PushEngine/run()`` to be running.
    ///
    /// - Returns: false if the engine ended, or the task was cancelled, before that.
    public func untilDrained() async -> Bool {
        let number = waiters.withLock { waiters in
            defer { waiters.next += 1 }
            return waiters.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasEnded = waiters.withLock { waiters in
                    if waiters.hasEnded { return true }
                    waiters.waiting[number] = continuation
                    return false
                }
                if hasEnded { return continuation.resume(returning: backlog == 0) }
                // Registered before it is looked at: a commit in between is not missed.
                if Task.isCancelled { resume(number, false) } else if backlog == 0 { resume(number, true) }
            }
        } onCancel: {
            resume(number, false)
        }
    }

    private func resume(_ number: Int, _ isDrained: Bool) {
        waiters.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: isDrained)
    }

    /// A commit has settled the last one; or, with false, nothing will be settled any more.
    func drained(_ isDrained: Bool) {
        let continuations = waiters.withLock { waiters in
            if !isDrained { waiters.hasEnded = true }
            defer { waiters.waiting = [:] }
            return Array(waiters.waiting.values)
        }
        for continuation in continuations { continuation.resume(returning: isDrained) }
    }
}
