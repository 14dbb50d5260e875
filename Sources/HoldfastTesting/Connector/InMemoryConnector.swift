public import Holdfast

/// A ``Holdfast/Connector`` without a network, for tests: it remembers what was sent, and answers as it is told.
///
///     let connector = InMemoryConnector()
///     let engine = try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: connector)])
///     …
///     #expect(connector.wasSent(to: .device(token)))
///     #expect(connector.lastSent(to: .device(token))?.topic == "com.example.app")
///
/// For a service that answers errors only see ``InMemoryCumulativeConnector``.
public final class InMemoryConnector: Connector {
    /// What to answer to a notification; nil leaves it unanswered.
    public typealias Answer = @Sendable (PushNotification) -> SendResult?

    struct State: Sendable {
        var sent: [PushNotification] = []
        var connectErrors: [ConnectError] = []
        var connections: [InMemoryConnection] = []
        var connectionCount = 0
        var capacity: Int
        var answer: Answer
    }

    /// Every notification is answered on its own.
    public let confirmationMode = ConfirmationMode.perNotification
    /// The limits of APNs over HTTP/2.
    public let limits = NotificationLimits.http2
    /// The name of this service in logs: `memory`.
    public let endpoint = "memory"
    let state: Monitor<State>

    /// - Parameters:
    ///   - capacity: the most unanswered entries of a connection.
    ///   - answer: called for each notification, on the engine's thread. Default: every one is confirmed.
    public init(capacity: Int = 1000, answer: @escaping Answer = { _ in .confirmed }) {
        state = Monitor(State(capacity: max(capacity, 1), answer: answer))
    }

    // MARK: What was sent

    /// All that was sent, in order, resends included.
    public var sent: [PushNotification] { state.withLock(\.sent) }

    /// Whether anything was sent to the recipient.
    public func wasSent(to recipient: Recipient) -> Bool { lastSent(to: recipient) != nil }

    /// The last notification that was sent to the recipient; `nil` for none.
    public func lastSent(to recipient: Recipient) -> PushNotification? {
        state.withLock { $0.sent.last { $0.recipient == recipient } }
    }

    /// Forgets what was sent.
    public func clear() { state.withLock { $0.sent = [] } }

    /// How often a connection came about.
    public var connectionCount: Int { state.withLock(\.connectionCount) }

    /// Waits until `condition` holds for what was sent, looking again and again; for at most `limit`.
    ///
    /// - Returns: whether it came to hold.
    public func waitUntil(
        limit: Duration = .seconds(10), _ condition: @escaping @Sendable ([PushNotification]) -> Bool
    ) async -> Bool {
        await Patience(limit).wait { condition(self.sent) }
    }

    // MARK: What the service does

    /// Answers differently from now on.
    public func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    /// Answers what was left unanswered on all connections that are open.
    ///
    /// - Parameter answer: nil leaves it so.
    public func answerWaiting(_ answer: Answer = { _ in .confirmed }) {
        for connection in state.withLock(\.connections) { connection.answerWaiting(answer) }
    }

    /// The next attempts to connect fail with these, one after the other.
    public func failConnecting(_ errors: [ConnectError]) { state.withLock { $0.connectErrors += errors } }

    /// Changes the capacity of the connections that are open and of those to come; at least 1.
    public func changeCapacity(to capacity: Int) {
        let capacity = max(capacity, 1)
        let connections = state.withLock { state in
            state.capacity = capacity
            return state.connections
        }
        for connection in connections { connection.tell(.capacityChanged(capacity)) }
    }

    /// Has the connections that are open say that they take nothing more; what they have can still be answered.
    public func drain() { for connection in state.withLock(\.connections) { connection.tell(.draining) } }

    /// Ends the connections that are open.
    ///
    /// - Parameter possiblySent: whether what is not answered may have reached the service.
    public func endConnection(possiblySent: Bool, cause: String = "ended by the test") {
        for connection in state.withLock(\.connections) {
            connection.end(ConnectionEnd(possiblySent: possiblySent ? nil : [], cause: cause))
        }
    }

    /// Makes a connection, or fails as ordered with ``failConnecting(_:)``.
    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let connection = InMemoryConnection(self, sink: sink)
        let error: ConnectError? = state.withLock { state in
            if !state.connectErrors.isEmpty { return state.connectErrors.removeFirst() }
            state.connections.append(connection)
            state.connectionCount += 1
            return nil
        }
        if let error { throw error }
        return connection
    }
}

/// A connection of an ``InMemoryConnector``.
final class InMemoryConnection: Connection {
    private let connector: InMemoryConnector
    private let outbox: EventOutbox
    private let pending = Monitor<[Ticket: PushNotification]>([:])

    init(_ connector: InMemoryConnector, sink: ConnectionSink) {
        self.connector = connector
        outbox = EventOutbox(sink)
    }

    var capacity: Int { connector.state.withLock(\.capacity) }

    func send(_ handOut: HandOut) {
        var results: [(ticket: Ticket, result: SendResult)] = []
        var sent: [(ticket: Ticket, notification: PushNotification)] = []
        for (ticket, notification) in handOut.notifications {
            guard let notification else {
                results.append((ticket, .notSent("the entry can't be read")))
                continue
            }
            sent.append((ticket, notification))
        }
        // A hand-out that meets an ended connection was answered by its end: as never sent.
        let isOpen = pending.withLock { pending in
            for (ticket, notification) in sent where !outbox.isOver { pending[ticket] = notification }
            return !outbox.isOver
        }
        guard isOpen else { return }
        let answer = connector.state.withLock { state in
            state.sent += sent.map(\.notification)
            return state.answer
        }
        if !results.isEmpty { tell(.results(results)) }
        settle(sent.map { ($0.ticket, answer($0.notification)) })
    }

    func answerWaiting(_ answer: InMemoryConnector.Answer) {
        let waiting = pending.withLock { $0.sorted { $0.key.rawValue < $1.key.rawValue } }
        settle(waiting.map { ($0.key, answer($0.value)) })
    }

    /// Answers for those that are not answered yet.
    private func settle(_ answers: [(ticket: Ticket, result: SendResult?)]) {
        pending.withLock { pending in
            var confirmed: [Ticket] = []
            var results: [(ticket: Ticket, result: SendResult)] = []
            for case (let ticket, let result?) in answers where pending.removeValue(forKey: ticket) != nil {
                if result == .confirmed { confirmed.append(ticket) } else { results.append((ticket, result)) }
            }
            if !confirmed.isEmpty { outbox.put([.confirmed(confirmed)]) }
            if !results.isEmpty { outbox.put([.results(results)]) }
        }
        outbox.deliver()
    }

    func tell(_ event: ConnectorEvent) {
        outbox.put([event])
        outbox.deliver()
    }

    /// Ends at once: a service that has not answered until now does not, within any deadline.
    func close(deadline: Duration) {
        let waiting = pending.withLock { Array($0.keys) }
        end(ConnectionEnd(possiblySent: waiting, cause: nil))
    }

    func end(_ connectionEnd: ConnectionEnd) {
        pending.withLock { pending in
            if outbox.put([.ended(connectionEnd)]) { pending = [:] }
        }
        connector.state.withLock { state in state.connections.removeAll { $0 === self } }
        outbox.deliver()
    }
}
