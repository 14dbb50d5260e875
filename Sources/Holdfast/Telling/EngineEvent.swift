/// An event of a running engine, for operators and applications. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum EngineEvent: Hashable, Sendable {
    /// A route has a connection.
    case connected(route: String)
    /// A connection of the route ended. `cause` is `nil` if that was requested.
    case disconnected(route: String, cause: String?)
    /// The lane stopped by itself: nothing of it goes out until it is resumed or a probe succeeds.
    case laneStopped(LaneKey, reason: String)
    /// An operator has paused the lane: nothing of it goes out until it is resumed.
    case lanePaused(LaneKey)
    /// The lane runs again.
    case laneResumed(LaneKey)
    /// The service refuses the topic, with this reason. Its entries wait, and all others are sent.
    case topicSetAside(route: String, topic: String, reason: String)
    /// The service takes the topic again.
    case topicBack(route: String, topic: String)
    /// This entry seems to end connections: so many that carried nothing else have ended, while the service took other
    /// entries. An attempt is counted, and the entry waits until `nextTrial` without delaying others; `nil` if it was given up.
    case endsConnections(LaneKey, UID, connections: Int, nextTrial: WallTime?)
    /// The route hands out nothing for now.
    case holding(route: String, HoldReason)
    /// The route hands out entries again.
    case handingOut(route: String)
    /// Silence or a barrier has confirmed `count` entries of the lane, up to this UID. They are out of the queue.
    case cleared(LaneKey, count: Int, through: UID, by: ConfirmationBasis)
    /// An error revoked confirmations by silence. `recalled` entries had been kept aside and are unconfirmed again; `lost`
    /// entries were reported as confirmed, although the service did not take them, and were not kept any more.
    case lateError(route: String, recalled: Int, lost: Int)
    /// So many tokens that the service called bad were blacklisted.
    case convicted(LaneKey, count: Int)
    /// So many entries of the lane are tried in the other environment, since their tokens are bad in this one.
    case movedToOtherEnvironment(LaneKey, count: Int)
    /// An entry was moved into quarantine, because its record cannot be read.
    case quarantined(LaneKey, UID, RecordFault)
    /// Every notification of the Producer has its outcome.
    case drained(producer: String)
    /// The wall clock is distrusted, for this reason: expirations are ignored for a while.
    case clockDistrusted(String)
    /// The service's own id of a notification, for its console (development environment only).
    case identified(route: String, UID, uniqueID: String)
    /// A connector's message to operators.
    case notice(route: String, ConnectorNotice)
}

/// The basis of a confirmation. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConfirmationBasis: Hashable, Sendable {
    /// The service's answer to this notification, or an error about a later one.
    case answer
    /// The service's answer to a barrier after it.
    case barrier
    /// The absence of errors for the quiet period.
    case quiet
}

/// Why a route with entries and a connection hands out nothing. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum HoldReason: Hashable, Sendable, CustomStringConvertible {
    /// It isn't known whether this host still owns its journal, which others may take. Look at what keeps the journal: a database
    /// that can't be reached, or one that answers late.
    case ownershipUnproven
    /// The settlements that follow from a payload error are not durable yet.
    case payloadError
    /// Outcomes that were not taken have reached ``EngineConfiguration/outcomeLimit``.
    case outcomesFull
    /// The service refuses new provider tokens, so nothing is sent for a while: see ``EngineStatus/parked``.
    case parked
    /// The journal can't be read; the read is retried.
    case journalUnreadable
    /// The service throttles or is unavailable, and the route pauses or waits for a probe: see ``EngineStatus/throttled``.
    case throttled

    /// The reason in words, for operators.
    public var description: String {
        switch self {
        case .ownershipUnproven:
            "it isn't known whether this host still owns the journal: see whether its database answers"
        case .payloadError: "settling a payload error"
        case .outcomesFull: "outcomes wait to be taken"
        case .parked: "parked by the service"
        case .journalUnreadable: "the journal can't be read"
        case .throttled: "throttled by the service"
        }
    }
}

/// Passes events to all listeners, and never waits for one.
final class EventHub: Sendable {
    private struct State: Sendable {
        var listeners: [Int: AsyncStream<EngineEvent>.Continuation] = [:]
        var next = 0
        var dropped = 0
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Events dropped because a listener was too slow.
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

    /// Ends the streams of all listeners.
    func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
