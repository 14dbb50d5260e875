internal import Dispatch
internal import Logging

/// Reads one route's lanes forward from the journal, hands entries to the connection, reports what was sent, and tells the
/// Producer what came of it.
///
/// Everything but the inbox belongs to whoever calls ``turn()``, one caller at a time: the route's thread, or a simulation.
/// One turn takes all that the inbox holds, so under load the cost of a turn is shared by hundreds of entries.
package final class Consumer: @unchecked Sendable {  // the inbox is a Monitor; all else is confined to the caller of turn()
    /// One connection, with what is in flight on it. A class, so that its window is changed in place.
    final class Link {
        /// Nil once it has ended; the link stays until everything in its window is settled.
        var connection: (any Connection)?
        var window = SentWindow()
        var capacity: Int
        /// It has brought an answer.
        var hasWorked = false

        init(connection: any Connection) {
            self.connection = connection
            capacity = max(connection.capacity, 1)
        }

        var isOver: Bool { connection == nil && window.count == 0 }
    }

    enum ConnectionPhase {
        case idle
        case connecting
        case connected(Int)
        case waiting(until: Duration)
    }

    /// How a Consumer's work ended.
    package enum End: Sendable {
        case shutDown
        case failed(JournalError)
    }

    let route: Route
    let journal: any Journal
    let producer: Producer
    let configuration: EngineConfiguration
    let clock: EngineClock
    let logger: Logger
    let board: StatusBoard
    let inbox = Monitor(ConsumerInbox())
    /// Wakes the thread. A semaphore and not the Monitor's condition, whose deadlines are by the wall clock: one that is set
    /// back by an hour must not hold up the timers for an hour.
    private let wakeUp = DispatchSemaphore(value: 0)
    /// Asks for a connection with this number; the outcome comes to the inbox.
    let requestConnection: @Sendable (Int) -> Void

    var lanes: [LaneStateMachine]
    var links: [Int: Link] = [:]
    var phase: ConnectionPhase = .idle
    var nextConnection = 1
    var reconnect: ReconnectSchedule
    var random: Xoshiro256

    /// Entries that wait before they go again, since their last attempt came to nothing known. They count against the
    /// window.
    var delayed: [(due: Duration, lane: Int, again: LaneStateMachine.Again)] = []
    /// How often attempts came to nothing known, for entries that are unconfirmed still.
    var unknowns: [UID: Int] = [:]
    /// When the first deferred entry of a lane is due.
    var deferredDue: [Int: (monotonic: Duration, wall: WallTime)] = [:]
    var promoting: Set<Int> = []
    /// Events of a connection whose making was not reported yet.
    var earlyEvents: [(connection: Int, event: ConnectorEvent)] = []
    /// What the status board has been told.
    var publishedLanes: [LaneStateMachine.Status] = []
    /// Settlements that the journal could not write, to be tried again.
    var unwritten: [(due: Duration, connection: Int, work: SettlementWork)] = []
    /// Settlements with the journal.
    var beingWritten = 0
    /// Not before this does the Consumer read again, after a read that failed.
    var readAgainAt: Duration?

    var shutdownDeadline: Duration?
    /// Send marks that are being set back before an orderly end; nil before that has begun.
    private var marksBeingLowered: Int?
    var end: End?

    init(
        route: RouteTable.Entry, producer: Producer, clock: EngineClock, logger: Logger, board: StatusBoard,
        randomSeed: UInt64, requestConnection: @escaping @Sendable (Int) -> Void
    ) {
        self.route = route.route
        self.producer = producer
        journal = producer.journal
        configuration = producer.configuration
        self.clock = clock
        self.logger = logger
        self.board = board
        self.requestConnection = requestConnection
        random = Xoshiro256(seed: randomSeed)
        // Half a window ahead is far enough for a turn's reading, and no more than needed counts as possibly sent.
        lanes = route.lanes.map { [lookahead = max(configuration.window / 2, 1)] in
            LaneStateMachine(key: $0.key, opening: $0.opening, lookahead: lookahead)
        }
        reconnect = ReconnectSchedule(minimum: configuration.reconnectMinimum, maximum: configuration.reconnectMaximum)
    }

    /// Entries of all connections that are in flight, and those that wait after an attempt of unknown outcome.
    var inFlight: Int { links.values.reduce(delayed.count) { $0 + $1.window.count } }

    /// Leaves something in the inbox and wakes the thread. From any thread.
    func post(_ change: (inout ConsumerInbox) -> Void) {
        let wasEmpty = inbox.withLock { inbox in
            defer { change(&inbox) }
            return inbox.isEmpty
        }
        if wasEmpty { wakeUp.signal() }
    }

    /// Reads the deferred entries' due times; before the first turn.
    func start() {
        let now = clock.monotonic()
        for index in lanes.indices { refreshDeferred(index, now: now) }
    }

    /// Does everything there is to do at the moment.
    ///
    /// - Returns: when to come back at the latest, by the monotonic clock; nil when only the inbox can bring more.
    func turn() -> Duration? {
        var received = ConsumerInbox()
        inbox.withLock { swap(&$0, &received) }
        let now = clock.monotonic()
        let wall = clock.wall()

        takeCommits(received.commits)
        takeSettled(received.settled, now: now)
        takeConnected(received.connected, now: now)
        takeEvents(earlyEvents + received.events, now: now, wall: wall)
        takePromoted(received.promoted, now: now)
        takeResumed(received.resumedLanes)
        if let failure = received.failure { fail(failure) }
        if received.shutdownAsked { beginShutdown(now: now) }
        if let waiting = marksBeingLowered { marksBeingLowered = waiting - received.marksLowered }
        runTimers(now: now)

        if end == nil, shutdownDeadline == nil {
            connectIfNeeded(now: now)
            handOut(now: now, wall: wall)
        }
        finishShutdownIfDone(now: now)
        publish()
        return nextWake()
    }

    /// Blocks until the inbox has something, or until `wake` by the monotonic clock.
    func waitForWork(until wake: Duration?) {
        guard inbox.withLock(\.isEmpty) else { return }
        guard let wake else { return wakeUp.wait() }
        let milliseconds = min(max((wake - clock.monotonic()).wholeMilliseconds, 0), 3_600_000) + 1
        _ = wakeUp.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
    }

    private func takeCommits(_ commits: [LaneID: CommitReport.Lane]) {
        guard !commits.isEmpty else { return }
        for index in lanes.indices {
            guard let commit = commits[lanes[index].id] else { continue }
            lanes[index].committed(lastUID: commit.lastUID, mark: commit.mark)
        }
    }

    private func takeResumed(_ ids: [LaneID]) {
        for id in ids {
            guard let index = lanes.firstIndex(where: { $0.id == id }) else { continue }
            lanes[index].resume()
        }
    }

    private func beginShutdown(now: Duration) {
        guard shutdownDeadline == nil else { return }
        shutdownDeadline = now + configuration.shutdownLimit
        for link in links.values { link.connection?.close(deadline: configuration.shutdownLimit) }
    }

    private func finishShutdownIfDone(now: Duration) {
        guard end == nil, let deadline = shutdownDeadline else { return }
        let unanswered = links.values.contains { $0.connection != nil }
        let isDone = !unanswered && beingWritten == 0 && unwritten.isEmpty && promoting.isEmpty
        if isDone, marksBeingLowered == nil { lowerMarks() }
        if marksBeingLowered == 0 || now >= deadline + .seconds(1) { end = .shutDown }
    }

    /// Nothing is in flight: the marks, which ran ahead, go back to what may really have been sent. So an orderly restart
    /// calls nothing a possible duplicate that is none, and nothing unknown that never left.
    private func lowerMarks() {
        marksBeingLowered = 0
        for index in lanes.indices {
            let waiting = delayed.filter { $0.lane == index }.map(\.again)
            let rest = lanes[index].markAtRest(waiting: waiting)
            guard rest < lanes[index].mark else { continue }
            marksBeingLowered = (marksBeingLowered ?? 0) + 1
            journal.lowerMark(of: lanes[index].id, to: rest) { [weak self, logger] result in
                if case .failure(let error) = result { logger.warning("a send mark was not set back: \(error)") }
                self?.post { $0.marksLowered += 1 }
            }
        }
    }

    private func nextWake() -> Duration? {
        var wakes: [Duration] = []
        if let shutdownDeadline { wakes.append(shutdownDeadline + .seconds(1)) }
        if let readAgainAt { wakes.append(readAgainAt) }
        if case .waiting(let until) = phase, shutdownDeadline == nil { wakes.append(until) }
        wakes.append(contentsOf: delayed.map(\.due))
        wakes.append(contentsOf: unwritten.map(\.due))
        if awaitsDeferred {
            for (lane, due) in deferredDue where canPromote(lane) { wakes.append(due.monotonic) }
        }
        return wakes.min()
    }

    /// Whether a deferred entry that falls due is something to act upon: by bringing it back, or by connecting for it.
    private var awaitsDeferred: Bool {
        guard shutdownDeadline == nil else { return false }
        switch phase {
        case .idle, .connected: return true
        case .connecting, .waiting: return false
        }
    }

    /// A connection that came about when nobody waited for it any more.
    func closeUnclaimed() {
        let unclaimed = inbox.withLock { inbox in
            defer { inbox.connected = [] }
            return inbox.connected
        }
        for case (_, .success(let connection)) in unclaimed { connection.close(deadline: .zero) }
    }

    /// The work is over for good: nothing can be written any more.
    func fail(_ error: JournalError) {
        guard end == nil else { return }
        logger.critical("stopping: the journal can't be used any more: \(error)")
        end = .failed(error)
    }
}
