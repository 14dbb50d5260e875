public import Holdfast

/// A ``Connector`` without a network, for tests: it remembers what was sent, and answers as it is told.
public final class InMemoryConnector: Connector {
    /// What to answer to a notification; nil leaves it unanswered.
    public typealias Answer = @Sendable (PushNotification) -> SendResult?

    struct State: Sendable {
        var sent: [PushNotification] = []
        var connectErrors: [ConnectError] = []
        var connections: [InMemoryConnection] = []
        var answer: Answer
    }

    public let confirmationMode = ConfirmationMode.perNotification
    public let limits = NotificationLimits.http2
    public let endpoint = "memory"
    let capacity: Int
    let state: Monitor<State>

    /// - Parameters:
    ///   - capacity: the most unanswered entries of a connection.
    ///   - answer: called for each notification, on the engine's thread. Default: every one is confirmed.
    public init(capacity: Int = 1000, answer: @escaping Answer = { _ in .confirmed }) {
        self.capacity = capacity
        state = Monitor(State(answer: answer))
    }

    /// All that was sent, in order, resends included.
    public var sent: [PushNotification] { state.withLock(\.sent) }

    public func wasSent(to token: DeviceToken) -> Bool { lastSent(to: token) != nil }

    public func lastSent(to token: DeviceToken) -> PushNotification? {
        state.withLock { $0.sent.last { $0.token == token } }
    }

    /// Answers differently from now on.
    public func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    /// The next attempts to connect fail with these.
    public func failConnecting(_ errors: [ConnectError]) { state.withLock { $0.connectErrors += errors } }

    /// Ends the connection that is open.
    ///
    /// - Parameter possiblySent: whether what is not answered may have reached the service.
    public func endConnection(possiblySent: Bool, cause: String = "ended by the test") {
        let connection = state.withLock { $0.connections.last }
        connection?.end(ConnectionEnd(possiblySent: possiblySent ? nil : [], cause: cause))
    }

    /// Waits until `condition` holds for what was sent, looking again after each hand-out; for at most `limit`.
    ///
    /// - Returns: whether it came to hold.
    public func waitUntil(
        limit: Duration = .seconds(10), _ condition: @escaping @Sendable ([PushNotification]) -> Bool
    ) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while !condition(sent) {
            if ContinuousClock.now > deadline || Task.isCancelled { return false }
            await Task.yield()
        }
        return true
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let (error, connection): (ConnectError?, InMemoryConnection) = state.withLock { state in
            let connection = InMemoryConnection(self, sink: sink)
            if !state.connectErrors.isEmpty { return (state.connectErrors.removeFirst(), connection) }
            state.connections.append(connection)
            return (nil, connection)
        }
        if let error { throw error }
        return connection
    }
}

/// A connection of an ``InMemoryConnector``.
final class InMemoryConnection: Connection {
    private let connector: InMemoryConnector
    private let sink: ConnectionSink
    private let hasEnded = Monitor(false)

    init(_ connector: InMemoryConnector, sink: ConnectionSink) {
        self.connector = connector
        self.sink = sink
    }

    var capacity: Int { connector.capacity }

    func send(_ handOut: HandOut) {
        guard !hasEnded.withLock({ $0 }) else {
            return sink(.results(handOut.tickets.map { ($0, .notSent("the connection has ended")) }))
        }
        var confirmed: [Ticket] = []
        var results: [(ticket: Ticket, result: SendResult)] = []
        for (index, ticket) in handOut.tickets.enumerated() {
            let notification: PushNotification
            do throws(PackedNotification.Damage) {
                notification = try handOut.entries.notification(at: index)
            } catch {
                results.append((ticket, .notSent("the entry can't be read: \(error)")))
                continue
            }
            let answer = connector.state.withLock { state in
                state.sent.append(notification)
                return state.answer
            }
            switch answer(notification) {
            case nil: break
            case SendResult.confirmed?: confirmed.append(ticket)
            case let result?: results.append((ticket, result))
            }
        }
        if !confirmed.isEmpty { sink(.confirmed(confirmed)) }
        if !results.isEmpty { sink(.results(results)) }
    }

    func close(deadline: Duration) {
        end(ConnectionEnd(possiblySent: nil, cause: nil))
    }

    func end(_ connectionEnd: ConnectionEnd) {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        connector.state.withLock { state in state.connections.removeAll { $0 === self } }
        sink(.ended(connectionEnd))
    }
}
