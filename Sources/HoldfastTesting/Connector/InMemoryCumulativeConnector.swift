public import Holdfast

/// A ``Holdfast/Connector`` without a network whose service answers errors only, as the binary APNs protocol does; for tests.
///
/// The service takes what it is sent in order. At the first notification that its judge refuses it reports a
/// ``Holdfast/PayloadError``, discards everything behind it, and closes. What comes at once here can be made to wait, so that
/// a test decides what happens first: see ``Behavior``.
public final class InMemoryCumulativeConnector: Connector {
    /// What the service says about a notification; nil takes it, silently.
    public typealias Judge = @Sendable (PushNotification) -> SendResult?

    /// What happens by itself.
    public struct Behavior: Hashable, Sendable {
        /// What is handed over leaves the send queue at once; else with
        /// ``InMemoryCumulativeConnector/letLeave(_:)``.
        public var leavesAtOnce = true
        /// Errors and answers to barriers come at once; else with ``InMemoryCumulativeConnector/letSpeak()``.
        public var speaksAtOnce = true
        /// ``Holdfast/CumulativeConnection/listen(stamp:)`` is answered at once; else with
        /// ``InMemoryCumulativeConnector/letListen()``.
        public var listensAtOnce = true
        /// Whether its connections can write a barrier.
        public var canWriteBarrier = true

        /// Makes the default behavior: everything happens at once.
        public init() {}
    }

    struct State: Sendable {
        var sent: [PushNotification] = []
        var taken: [PushNotification] = []
        var connectErrors: [ConnectError] = []
        var connections: [InMemoryCumulativeConnection] = []
        var connectionCount = 0
        var capacity: Int
        var behavior: Behavior
        var judge: Judge
    }

    /// The service answers errors only.
    public let confirmationMode: ConfirmationMode
    /// The limits of APNs over HTTP/2.
    public let limits = NotificationLimits.http2
    /// The name of this service in logs: `memory`.
    public let endpoint = "memory"
    let state: Monitor<State>

    /// - Parameters:
    ///   - quietPeriod: nil when silence counts for nothing.
    ///   - capacity: the most entries that a connection has and that have not left yet.
    ///   - judge: called for each notification, on the thread on which it leaves. Default: every one is taken.
    public init(
        quietPeriod: Duration? = .seconds(1), capacity: Int = 1_000_000, behavior: Behavior = Behavior(),
        judge: @escaping Judge = { _ in nil }
    ) {
        confirmationMode = .cumulative(quietPeriod: quietPeriod)
        state = Monitor(State(capacity: max(capacity, 1), behavior: behavior, judge: judge))
    }

    // MARK: What was sent

    /// All that was handed over, in order, resends included, whether or not it has left or was taken.
    public var sent: [PushNotification] { state.withLock(\.sent) }

    /// What the service has taken, in order: neither refused nor discarded behind an error.
    public var taken: [PushNotification] { state.withLock(\.taken) }

    /// Whether anything for the recipient was handed over.
    public func wasSent(to recipient: Recipient) -> Bool { lastSent(to: recipient) != nil }

    /// The last notification for the recipient that was handed over; `nil` for none.
    public func lastSent(to recipient: Recipient) -> PushNotification? {
        state.withLock { $0.sent.last { $0.recipient == recipient } }
    }

    /// How often a connection came about.
    public var connectionCount: Int { state.withLock(\.connectionCount) }

    /// Waits until `condition` holds for what was handed over, looking again and again; for at most `limit`.
    ///
    /// - Returns: whether it came to hold.
    public func waitUntil(
        limit: Duration = .seconds(10), _ condition: @escaping @Sendable ([PushNotification]) -> Bool
    ) async -> Bool {
        await Patience(limit).wait { condition(self.sent) }
    }

    // MARK: What the service does

    /// Judges differently from now on.
    public func judge(_ judge: @escaping Judge) { state.withLock { $0.judge = judge } }

    /// Behaves differently from now on; what waits goes on waiting for its word.
    public func behave(_ behavior: Behavior) { state.withLock { $0.behavior = behavior } }

    /// Lets `count` notifications more leave the send queues of the connections that are open.
    public func letLeave(_ count: Int = .max) { for connection in open { connection.leave(count) } }

    /// Reports errors and answers to barriers that were held back.
    public func letSpeak() { for connection in open { connection.speak() } }

    /// Answers to ``Holdfast/CumulativeConnection/listen(stamp:)`` that were held back.
    public func letListen() { for connection in open { connection.answerListening() } }

    /// Reports an error of the test's making on the connections that are open, and ends them.
    public func report(_ error: PayloadError) { for connection in open { connection.report(error) } }

    /// The next attempts to connect fail with these, one after the other.
    public func failConnecting(_ errors: [ConnectError]) { state.withLock { $0.connectErrors += errors } }

    /// Changes the capacity of the connections that are open and of those to come; at least 1.
    public func changeCapacity(to capacity: Int) {
        state.withLock { $0.capacity = max(capacity, 1) }
        for connection in open { connection.tell(.capacityChanged(max(capacity, 1))) }
    }

    /// Ends the connections that are open, without a word of the service.
    ///
    /// - Parameter tellsWhatLeft: whether the connector can say how far it has sent.
    public func endConnection(tellsWhatLeft: Bool = true, cause: String = "ended by the test") {
        for connection in open { connection.end(tellsWhatLeft: tellsWhatLeft, cause: cause) }
    }

    private var open: [InMemoryCumulativeConnection] { state.withLock(\.connections) }

    /// Makes a connection, or fails as ordered with ``failConnecting(_:)``.
    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let connection = InMemoryCumulativeConnection(self, sink: sink)
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
