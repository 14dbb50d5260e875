/// Something that an operator or an application may want to know of, as it happens.
public enum EngineEvent: Hashable, Sendable {
    case connected(route: String)
    /// `cause` is nil for an end that was asked for.
    case disconnected(route: String, cause: String?)
    /// Nothing of the lane goes out until it is resumed.
    case laneStopped(LaneKey, reason: String)
    case lanePaused(LaneKey)
    case laneResumed(LaneKey)
    /// The service refuses the topic: its entries wait, and all others go. `reason` has the service's words.
    case topicSetAside(route: String, topic: String, reason: String)
    /// The service takes the topic again.
    case topicBack(route: String, topic: String)
    /// So many connections that carried nothing but this entry have ended, while the service took others: it waits until
    /// `nextTrial`, with an attempt counted, and nobody waits for it. Nil when it is given up.
    case endsConnections(LaneKey, UID, connections: Int, nextTrial: WallTime?)
    /// The route hands out nothing for the moment.
    case holding(route: String, HoldReason)
    /// It does again.
    case handingOut(route: String)
    /// So many entries of the lane, up to this UID, were confirmed by silence or a barrier, and are out of the queue.
    case cleared(LaneKey, count: Int, through: UID, by: ConfirmationBasis)
    /// An error came after silence had confirmed what it denies. So many entries were kept aside and are unconfirmed again;
    /// so many were kept no more: they were called confirmed, and were not taken.
    case lateError(route: String, recalled: Int, lost: Int)
    /// Tokens that were called bad are on the blacklist.
    case convicted(LaneKey, count: Int)
    /// An entry's record cannot be read: it was moved aside, and is kept.
    case quarantined(LaneKey, UID, RecordFault)
    /// Every notification that the Producer has submitted has its outcome.
    case drained(producer: String)
    /// Expirations are not acted upon for a while.
    case clockDistrusted(String)
    /// The service knows the notification by an id of its own, for its console (development environment only).
    case identified(route: String, UID, uniqueID: String)
    /// What a connector has noticed.
    case notice(route: String, ConnectorNotice)
}

/// What a confirmation rests on.
public enum ConfirmationBasis: Hashable, Sendable {
    /// The service's own word, for this notification or for one after it.
    case answer
    /// The answer to a barrier behind it.
    case barrier
    /// Silence for the quiet period.
    case quiet
}

/// Why a route hands out nothing although it could.
public enum HoldReason: Hashable, Sendable, CustomStringConvertible {
    /// What follows from a payload error is not on disk yet.
    case payloadError
    /// Outcomes that nobody has taken have reached their limit.
    case outcomesFull
    /// The service wants no new provider tokens, and nothing is sent for a while: see ``EngineStatus/parked``.
    case parked
    /// The journal can't be read; it is tried again.
    case journalUnreadable
    /// The service throttles or is unavailable, and a pause or one probe is under way: see ``EngineStatus/throttled``.
    case throttled

    public var description: String {
        switch self {
        case .payloadError: "settling a payload error"
        case .outcomesFull: "outcomes wait to be taken"
        case .parked: "parked by the service"
        case .journalUnreadable: "the journal can't be read"
        case .throttled: "throttled by the service"
        }
    }
}

/// Hands events to whoever listens, and waits for nobody.
final class EventHub: Sendable {
    private struct State: Sendable {
        var listeners: [Int: AsyncStream<EngineEvent>.Continuation] = [:]
        var next = 0
        var dropped = 0
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Events that some listener was too slow for.
    var dropped: Int { state.withLock(\.dropped) }

    func stream(buffering limit: Int) -> AsyncStream<EngineEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineEvent.self, bufferingPolicy: .bufferingNewest(max(limit, 1)))
        let number: Int? = state.withLock { state in
            if state.hasEnded { return nil }
            defer { state.next += 1 }
            state.listeners[state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    func emit(_ event: EngineEvent) {
        let listeners = state.withLock { Array($0.listeners.values) }
        guard !listeners.isEmpty else { return }
        var dropped = 0
        for listener in listeners {
            if case .dropped = listener.yield(event) { dropped += 1 }
        }
        if dropped > 0 { state.withLock { $0.dropped += dropped } }
    }

    /// No event comes any more.
    func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
