import Foundation
public import Holdfast
import HoldfastLMDB

/// The embedded journal: a directory with two LMDB environments, owned by one process.
///
/// Open one, give it to an engine, and close it after the engine has ended. Docs/Internals/JournalFormat.md describes it on
/// disk.
///
/// When the fate of a commit is unknown (``Holdfast/JournalError/Code/undetermined``), the journal fails: it answers every
/// request with ``Holdfast/JournalError/Code/mustBeReopened`` until it is closed and opened again.
public final class LMDBJournal: Journal, JournalService {
    // Completions and the commit observer run on the writer's thread. They must not block, and must not call members that
    // block: openLane, setNote, removeRejections and close (a precondition).

    /// The settings of a journal.
    public typealias Options = JournalOptions
    /// The loss that an accepted notification survives.
    public typealias Durability = JournalOptions.Durability

    /// The journal's directory.
    public let directory: String

    /// The journal's own key, with which what is stored under digests is found.
    package let identityKey: IdentityKey
    /// The key of the identities that submissions have.
    package var repeatKey: IdentityKey { options.repeatKey ?? identityKey }
    /// The wall time of the last commit before this opening, or ``JournalOptions/provenTime`` if that is later; `nil` for a new
    /// journal.
    package let wallTimeAtOpen: WallTime?
    /// The wall time that the journal had noted last before this opening, with the last notification that it took; `nil` for none.
    package let notedTime: WallTime?
    /// Conditions found at the opening that an operator should know, in whole sentences.
    public let warnings: [String]

    /// The journal as an engine uses it.
    public var handle: JournalHandle { JournalHandle(self) }

    private static let promotedAtOnce = 10_000

    let options: Options
    let pageByteCount: Int
    let parts: OpenParts

    var tables: EntriesStore.Tables { parts.store.tables }
    var shared: Monitor<SharedState> { parts.shared }
    var readers: ReaderPool { parts.readers }
    var tokens: LMDBBlacklist { parts.tokens }
    private var thread: WorkThread<Request> { parts.thread }

    /// Opens the journal in `directory`. Creates it first if there is none and the options allow it.
    ///
    /// An opening takes a sync, two synced commits, and a check of at most ``JournalOptions/pagesCheckedAtOpening`` pages.
    /// Its time does not depend otherwise on the size of the journal.
    ///
    /// - Parameters:
    ///   - directory: the path, by custom `NAME.journal`. It is made with mode 0700, and its parent must exist.
    ///   - options: the settings. They are not stored.
    /// - Throws: ``Holdfast/JournalError`` with code `ownedByAnotherProcess` (this process or the one named in the message
    ///   has it open), `beingRead`, `notFound`, `permissionDenied`, `newerFormat`, `damaged`, `unsupportedFileSystem`,
    ///   `wrongKey`, `diskFull`, `readOnly` or `inputOutput`.
    public init(directory: String, options: Options = Options()) throws(JournalError) {
        let place = JournalDirectory(directory)
        let path = place.path
        try Self.examine(path, options)
        try place.prepare()
        let lock = try OwnerLock(owning: place) { () throws(JournalError) in try place.begin(create: options.create) }
        let seals = try JournalSeals(opening: place, options.keys, isCopy: options.copyNumber != nil)
        try place.removeUnfinished()
        try place.prepareDataFiles()
        let damage = try OpeningCheck.run(place, seals, greatestPageCount: options.pagesCheckedAtOpening)

        let environment = try translated("open", path) { () throws(LMDBError) in
            try Environment.open(
                place.entries, options.durability.access, mapByteCount: options.mapByteCount,
                tables: EntriesStore.tableLimit, gate: options.gate)
        }
        try lock.lockData(of: place)
        try EntriesStore.refuseNewerFormat(environment, path)
        try EntriesStore.refuseMissingTables(environment, place)
        if options.gate == nil { try WorkingCopy.refuse(environment, path) }
        if let number = options.copyNumber { try Self.requireCopy(environment, endingAt: number, path) }
        if let seal = seals[.entries] { environment.seal(with: seal) }
        let tokens = try LMDBBlacklist(opening: place, options, seals[.blacklist], damage: damage)
        let opened = try Self.recover(environment, options, seals[.entries], path)
        guard let outcomeTables = opened.store.tables.outcomeLog else { throw place.notFound }
        try place.sync()
        try place.finishMaking()

        let space = try Self.reserve(environment, opened.figures, options, path, canDrain: opened.state.unconfirmed > 0)
        let shared = Monitor(SharedState(state: opened.state, figures: opened.figures))
        let thread = WorkThread<Request>(interval: 1, greatestWeight: options.greatestBacklog)
        let readers = ReaderPool(environment)
        let indexer = OutcomeIndexer(outcomeTables, readers, key: opened.state.facts.identityKey)
        let writer = JournalWriter(
            opened.store, opened.state, space, opened.outcomes, directory: path, options: options, readers: readers,
            shared: shared, thread: thread, indexer: indexer, blacklist: tokens.environment)
        self.directory = path
        self.options = options
        identityKey = opened.state.facts.identityKey
        notedTime = opened.state.facts.wallTime
        wallTimeAtOpen = opened.state.facts.wallTime.map { max($0, options.provenTime ?? $0) }
        pageByteCount = space.pageByteCount
        warnings = try Self.warnings(environment, space, path)
        parts = OpenParts(
            store: opened.store, shared: shared, readers: readers, thread: thread, writer: writer, tokens: tokens,
            indexer: indexer, lock: lock, isStepped: options.stepping != nil)
        tokens.start(raiseFormat: { [store = opened.store] () throws(LMDBError) in try store.raiseFormat() })
        if options.stepping != nil { return }
        thread.start(
            name: "holdfast-journal", work: { requests in writer.work(requests) }, finish: { writer.finish() })
    }

    deinit {
        if options.stepping != nil { return parts.abandon() }
        // The last reference may have been a completion's, on the thread that closing waits for.
        guard thread.isCurrent else { return parts.close() }
        let parts = parts
        Thread.detachNewThread { parts.close() }
    }

    /// Writes what waits, and closes the journal. Not from a completion.
    public func close() {
        thread.refuseOwnThread()
        parts.close()
    }

    // MARK: Writing

    /// Opens the lane, and registers it the first time. Durable on return.
    package func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening { try openLanes([key])[0] }

    /// Opens the lanes in one commit, and registers the new ones. Durable on return.
    package func openLanes(_ keys: [LaneKey]) throws(JournalError) -> [LaneOpening] {
        if let key = keys.first(where: { !(1...255).contains($0.route.utf8.count) }) {
            throw JournalError(.invalidEntry, "the name of a route has 1 to 255 bytes, not \(key.route.utf8.count)")
        }
        let lanes: [LaneID] = try ask { reply in .openLanes(keys, reply) }
        return shared.withLock { shared in lanes.map { shared.opening(of: $0) } }
    }

    /// The number of the Producer with this name, which is registered the first time. Durable on return.
    package func openProducer(_ name: String) throws(JournalError) -> ProducerID {
        guard ProducerRecord.nameLengths.contains(name.utf8.count) else {
            throw JournalError(.invalidEntry, "the name of a Producer has 1 to 64 bytes, not \(name.utf8.count)")
        }
        return try ask { reply in .openProducer(name, reply) }
    }

    /// Appends a submission in one commit. Refused when more than ``JournalOptions/greatestBacklog`` waits.
    package func append(
        _ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void
    ) {
        checkRanges(of: submission)
        // Not on the writer's thread, which may wait for what can't be reached.
        if let refusal = options.ownership?.refusal { return completion(.failure(refusal)) }
        let weight = submission.waitingByteCount
        if weight > options.greatestSubmission {
            let error = JournalError(
                .limitReached,
                "a submission of \(weight) bytes is more than the \(options.greatestSubmission) that one commit may hold: "
                    + "split it")
            leave(.refuse(completion, error)) { error in completion(.failure(error)) }
            return
        }
        switch thread.leave(.append(submission, completion), weight: weight) {
        case .taken: break
        case .closed: completion(.failure(.closed(directory)))
        case .full:
            let error = JournalError(
                .limitReached,
                "more than \(options.greatestBacklog) bytes wait to be written to \(directory): slow down")
            leave(.refuse(completion, error)) { error in completion(.failure(error)) }
        }
    }

    /// A range outside of the submission's bytes is a fault of the caller, and better found here than on the writer.
    private func checkRanges(of submission: Submission) {
        precondition(
            submission.identities.isEmpty && submission.schedules.isEmpty
                || submission.retries.isEmpty && submission.histories.isEmpty,
            "what an operator brings has no identity, and its schedule is its history")
        for item in submission.items {
            let range = item.range
            precondition(
                range.upperBound <= submission.bytes.count && range.count <= PackedNotification.maximumByteCount,
                "a submission names bytes that it does not have, or more than a notification may have")
        }
        var last = -1
        for (index, _) in submission.identities {
            precondition(
                index > last && index < submission.items.count,
                "a submission's identities are not ascending, or of items that it does not have")
            last = index
        }
        precondition(
            submission.schedules.allSatisfy { submission.items.indices.contains($0.index) },
            "a submission schedules items that it does not have")
    }

    /// Settles a batch: in one commit, or a large batch in several.
    package func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) {
        leave(.settle(batch, completion)) { error in completion(.failure(error)) }
    }

    /// As the owner of what this is a working copy of; `nil` for a journal that is all there is.
    package var handOutUntil: Duration? { options.ownership?.handOutUntil }

    /// Raises the lane's send mark up to `ceiling` with the next commits.
    package func raiseMark(of lane: LaneID, to ceiling: UID) {
        let wake = shared.withLock { shared in shared.raiseMark(of: lane.rawValue, to: ceiling.rawValue) }
        if wake { thread.poke() }
    }

    /// Stores whether the lane runs.
    package func setState(
        of lane: LaneID, to state: LaneState, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        leave(.setState(lane, state, completion)) { error in completion(.failure(error)) }
    }

    /// Lowers the lane's send mark, and forgets its ceiling.
    package func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        shared.withLock { shared in shared.forgetCeiling(of: lane.rawValue) }
        leave(.lowerMark(lane, mark, completion)) { error in completion(.failure(error)) }
    }

    /// Moves due deferred entries of the lane back among the unconfirmed ones.
    package func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        leave(.promote(lane, after: after, now: now, limit: limit, completion)) { error in completion(.failure(error)) }
    }

    /// Brings back what is deferred or scheduled and due by a time, of all lanes; nothing that waits for its tag or topic. Before lanes
    /// are opened for an engine, so that it counts as possibly sent what the mark covers of it. Durable on return.
    package func promoteAllDue(_ time: (Guarantee) -> WallTime) throws(JournalError) {
        for lane in try status().lanes where lane.deferred + lane.scheduled > 0 {
            let time = time(lane.key.guarantee)
            try promoteAll(of: lane.id, after: nil, through: time)
            try promoteAll(of: lane.id, after: ScheduledPlace.last, through: ScheduledPlace.due(for: time))
        }
    }

    private func promoteAll(of lane: LaneID, after: WallTime?, through: WallTime) throws(JournalError) {
        var promoted: [UID] = []
        repeat {
            promoted = try ask { reply in
                .promote(lane, after: after, now: through, limit: Self.promotedAtOnce) { result in reply.give(result) }
            }
        } while !promoted.isEmpty
    }

    /// Removes rows beyond the limits, a piece with each commit.
    package func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void) {
        leave(.trim(TrimWork(bounds, completion))) { error in completion(.failure(error)) }
    }

    /// Stores a note, or removes it. Durable on return.
    package func setNote(_ name: String, to value: [UInt8]?) throws(JournalError) {
        let key = try NoteRecord.key(of: name)
        let _: Void = try ask { reply in .setNote(key, value, reply) }
    }

    /// Removes rejections, and returns how many there were. Durable on return.
    package func removeRejections(_ uids: [UID]) throws(JournalError) -> Int {
        try ask { reply in .removeRejections(uids, reply) }
    }

    /// Sets the observer of commits. A journal has one at a time.
    package func observeCommits(_ observer: @escaping @Sendable (CommitReport) -> Void) throws(JournalError) {
        let isTaken = shared.withLock { shared in
            if shared.observer != nil { return true }
            shared.observer = observer
            return false
        }
        guard isTaken else { return }
        throw JournalError(
            .inUse,
            "an engine of this process delivers from \(directory) already: share that engine, or open another journal")
    }

    /// Removes the observer of commits.
    package func endObserving() { shared.withLock { shared in shared.observer = nil } }

    /// - Parameter refuse: answers at once when the journal is closed, since its thread is gone.
    func leave(_ request: Request, refuse: (JournalError) -> Void) {
        if case .closed = thread.leave(request) { refuse(.closed(directory)) }
    }

    func ask<Value: Sendable>(_ request: (Reply<Value>) -> Request) throws(JournalError) -> Value {
        thread.refuseOwnThread()
        let reply = Reply<Value>()
        leave(request(reply)) { error in reply.give(.failure(error)) }
        if options.stepping != nil { parts.writer.step(until: reply) }
        return try reply.get()
    }
}
