/// How notifications ended: for readers with cursors, for who waits for one, and for who asks later.
extension PushEngine {
    /// Outcomes for one reader, from where it has come to.
    ///
    /// The journal knows the reader by its name, and keeps its cursor. A new reader starts with what ends from now on. It is
    /// not waited for: outcomes are kept within ``EngineConfiguration/history``, and what it has not read by then is lost to
    /// it, and counted (``OutcomeBatch/missed``). Neither it nor its slowness holds up delivery.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 bytes of UTF-8, but not `engine`, which is the reader behind ``outcomes``. At most
    ///     ``OutcomeReader/greatestCount`` in a journal.
    ///   - producers: the names of the Producers whose outcomes it gets; `nil` for all.
    /// - Throws: ``JournalError`` if the journal can't register the reader, and with code ``JournalError/Code/notFound`` if
    ///   neither ``EngineConfiguration/history`` nor ``EngineConfiguration/keepsOutcomes`` keeps outcomes.
    public func outcomes(reader name: String, of producers: Set<String>? = nil) throws(JournalError) -> Outcomes {
        guard name != OutcomeReader.engineName else {
            throw JournalError(
                .invalidEntry, "the reader \(name.debugDescription) is the engine's own: choose another name")
        }
        guard producer.configuration.logsOutcomes else { throw .historyIsOff }
        _ = try core.journal.openReader(name, isWaitedFor: false)
        return Outcomes(source: core.outcomes, reader: .init(name: name, producers: producers))
    }

    /// The readers of outcomes that the journal knows, with their cursors.
    public var outcomeReaders: [OutcomeReader] { core.journal.outcomeReaders }

    /// The bounds of the log.
    package var outcomeLog: OutcomeLogFigures { core.journal.outcomeLog }

    /// The shortest time between two lines of the log about the same.
    package var logInterval: Duration { producer.configuration.logInterval }

    /// Whether no more outcomes come, because the engine has ended.
    package var outcomesHaveEnded: Bool { core.outcomes.hasEnded }

    /// Takes a reader's own word of how it comes along, for ``DeskStatus/readers``. Nil for nothing to say.
    package func report(_ report: ReaderReport?, ofReader name: String) {
        core.readerReports.withLock { $0[name] = report }
    }

    /// Moves a reader's cursor, forward or back, durably on return.
    ///
    /// - Throws: ``JournalError``: with code ``JournalError/Code/notFound`` for a reader that is not known, and
    ///   ``JournalError/Code/invalidEntry`` for a cursor beyond the newest outcome.
    public func moveReader(_ name: String, to cursor: OutcomeCursor) async throws {
        try await core.journal.move(name, to: cursor)
    }

    /// Forgets a reader, durably on return. Loops over its outcomes end with an error.
    public func forgetReader(_ name: String) async throws { try await core.journal.move(name, to: nil) }

    /// Looks for ended notifications, the newest first.
    ///
    /// - Parameters:
    ///   - query: what must match.
    ///   - before: looks at older ones only. `nil` starts at the newest; a page's end continues it.
    ///   - limit: the most outcomes of the page. Default: 100.
    /// - Returns: the outcomes found. The page's end is ``OutcomeCursor/start`` when the whole log was looked through.
    public func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor? = nil, limit: Int = 100
    ) throws(JournalError) -> OutcomePage {
        try core.journal.findOutcomes(query, before: before, limit: limit, mostBytes: .max)
    }

    /// Submits a notification, and waits until it has ended.
    ///
    /// Cancelling the task ends the waiting and not the delivery. If the process ends first, call this again in the next one
    /// with the same notification and its ``PushNotification/id``: it is recognised, not sent again, and its outcome returned.
    ///
    /// - Throws: ``Refusal`` if it is not accepted; ``JournalError`` if it is unknown whether it was;
    ///   ``DeliveryError`` if the outcome can't be told; `CancellationError`.
    public func deliver(_ notification: PushNotification) async throws -> Outcome {
        try await deliver(notification, as: producer)
    }

    /// Submits a notification as a Producer, and waits until it has ended: see ``deliver(_:)``.
    public func deliver(_ notification: PushNotification, as producer: Producer) async throws -> Outcome {
        guard producer.configuration.logsOutcomes else { throw DeliveryError.historyIsOff }
        let watch = core.outcomeFeed.begin()
        let receipt = await producer.submit([notification])[0]
        defer { core.outcomeFeed.end(watch) }
        let uid = try receipt.get()
        if case .repeated(let uid, let terminal) = receipt { return try outcome(of: uid, ended: terminal) }
        // One that was accepted before may have ended before the watch began.
        if notification.id != nil {
            if let outcome = try outcome(of: uid) { return outcome }
            guard try fate(of: uid) != nil else { throw DeliveryError.acceptedElsewhere(uid) }
        }
        return try await outcome(of: uid, watch)
    }

    /// Returns the outcome of an entry; `nil` if it has not ended, or is not in the log any more.
    public func outcome(of uid: UID) throws(JournalError) -> Outcome? {
        var query = OutcomeQuery()
        query.uid = uid
        return try findOutcomes(query, limit: 1).outcomes.first
    }

    private func outcome(of uid: UID, ended terminal: TerminalOutcome) throws -> Outcome {
        guard let outcome = try outcome(of: uid) else { throw DeliveryError.forgotten(uid, terminal) }
        return outcome
    }

    private func outcome(of uid: UID, _ watch: OutcomeFeed.Watch) async throws -> Outcome {
        let waiter = OutcomeWaiter()
        let wait = core.outcomeFeed.await(uid, watch) { waiter.answer($0.map { .told($0) } ?? .over) }
        let answer = await withTaskCancellationHandler {
            await waiter.answer()
        } onCancel: {
            waiter.answer(.cancelled)
        }
        switch answer {
        case .told(let outcome): return outcome
        case .over: throw DeliveryError.engineEnded(uid)
        case .cancelled:
            core.outcomeFeed.forget(wait)
            throw CancellationError()
        }
    }
}

/// Why ``PushEngine/deliver(_:)`` can't tell the outcome of a notification that was accepted. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum DeliveryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The engine keeps no outcomes: ``HistoryPolicy/isKept`` and ``EngineConfiguration/keepsOutcomes`` are off. Nothing was
    /// submitted.
    case historyIsOff
    /// The engine ended before the notification did. It is in the journal, and goes out when an engine runs again.
    case engineEnded(UID)
    /// It ended so, some time ago; the details are not in the log any more.
    case forgotten(UID, TerminalOutcome)
    /// Another host accepted it before, and its journal has it, or had it. Only with journals that several hosts share.
    case acceptedElsewhere(UID)

    /// A message for operators.
    public var description: String {
        switch self {
        case .historyIsOff:
            "the engine keeps no outcomes, so none can be awaited: turn its history on (EngineConfiguration.history)"
        case .engineEnded(let uid):
            "the engine ended before notification \(uid) did; it is in the journal and will be sent when an engine runs again"
        case .forgotten(let uid, let terminal):
            "notification \(uid) has ended: \(terminal); the log has no details any more"
        case .acceptedElsewhere(let uid):
            "notification \(uid) was accepted before by another host, which delivers it; this host is not told how it ends"
        }
    }
}

/// One answer for one task, from whoever is first.
private final class OutcomeWaiter: Sendable {
    enum Answer: Sendable {
        case told(Outcome)
        case over
        case cancelled
    }

    private struct State: Sendable {
        var answer: Answer?
        var continuation: CheckedContinuation<Answer, Never>?
    }

    private let state = Monitor(State())

    func answer(_ answer: Answer) {
        let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard state.answer == nil else { return nil }
            state.answer = answer
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: answer)
    }

    func answer() async -> Answer {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                if state.answer == nil { state.continuation = continuation }
                return state.answer
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}
