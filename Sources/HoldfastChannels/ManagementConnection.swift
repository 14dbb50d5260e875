internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastHTTP2
internal import HoldfastRequests
internal import HoldfastTransport
internal import NIOCore

/// A connection to the management service, for one request at a time.
final class ManagementConnection: Sendable, RequestOwner {
    private struct State: Sendable {
        /// Whether nothing more can be sent.
        var isOver = false
        /// Requests that the handler has not taken yet.
        var calls: [ManagementCall] = []
        /// The request that is with the handler.
        var open: (ticket: Ticket, promise: EventLoopPromise<ChannelAttempts.Ending>)?
        var lastTicket: UInt64 = 0
        /// `nil` once completed: a promise keeps its result alive.
        var ready: EventLoopPromise<ManagementConnection>?
        /// `nil` from the connection's end on: handler and connection would keep each other alive.
        var handler: NIOLoopBound<RequestHandler<ManagementDialect>>?
    }

    /// The credentials it was opened with.
    let credentials: Credentials
    private let endpoint: APNsEndpoint
    private let loop: any EventLoop
    private let state = Monitor(State())

    /// A connection on which nothing has been asked for so long is closed.
    private static let idleLimit = Duration.seconds(30)

    /// Opens one. It is usable once the service has sent its SETTINGS.
    static func open(
        _ configuration: APNsConnector.Configuration, _ credentials: Credentials
    ) async throws(ConnectError) -> ManagementConnection {
        if let problem = credentials.problem(at: EngineClock.system.wall()) {
            throw ConnectError(.configuration, problem)
        }
        return try await configuration.dialer(credentials).connect(on: Dialer.nextLoop()) {
            (channel, _, ready: EventLoopPromise<ManagementConnection>) in
            try ManagementConnection(configuration, credentials, over: channel, ready: ready)
        }
    }

    /// On the event loop.
    @discardableResult
    init(
        _ configuration: APNsConnector.Configuration, _ credentials: Credentials, over channel: any Channel,
        ready: EventLoopPromise<ManagementConnection>
    ) throws {
        self.credentials = credentials
        endpoint = configuration.endpoint
        loop = channel.eventLoop
        var settings = configuration.requests
        settings.idleClose = Self.idleLimit
        settings.maximumBody = HTTP2Response.greatestList
        settings.decodesSuccesses = true
        let handler = RequestHandler(ManagementDialect(endpoint), settings, owner: self)
        state.withLock { state in
            state.handler = NIOLoopBound(handler, eventLoop: loop)
            state.ready = ready
        }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            // The channel has closed already.
            end()
            throw error
        }
    }

    // MARK: The manager's side

    /// Whether a request may be sent on it, as far as is known.
    var isUsable: Bool { !state.withLock(\.isOver) }

    /// Sends a request and waits for its end. A task that is cancelled gives it up.
    func send(_ request: ChannelRequest, authorization: [UInt8]?) async -> ChannelAttempts.Ending {
        let promise = loop.makePromise(of: ChannelAttempts.Ending.self)
        let isTaken = state.withLock { state in
            guard !state.isOver, state.open == nil else { return false }
            state.lastTicket += 1
            let ticket = Ticket(rawValue: state.lastTicket)
            state.calls.append(ManagementCall(request: request, authorization: authorization, ticket: ticket))
            state.open = (ticket, promise)
            return true
        }
        guard isTaken else {
            let ending = ChannelAttempts.Ending.notSent("the connection to \(endpoint) has just ended")
            promise.succeed(ending)
            return ending
        }
        perform { $0.wake() }
        return await withTaskCancellationHandler {
            do { return try await promise.futureResult.get() } catch { return .unknown("\(error)") }
        } onCancel: {
            perform { $0.giveUp("it was given up") }
        }
    }

    /// Says goodbye and closes it. What is open is given up.
    func close() {
        state.withLock { $0.isOver = true }
        perform { $0.close(deadline: .zero) }
    }

    private func perform(_ action: @escaping @Sendable (RequestHandler<ManagementDialect>) -> Void) {
        guard let handler = state.withLock(\.handler) else { return }
        loop.execute { action(handler.value) }
    }

    // MARK: The event loop's side

    func takeAll() -> [ManagementCall] {
        state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
    }

    func failed(_ error: any Error) { takeReady()?.fail(error) }

    func handlerRemoved() { end() }

    func perform(_ action: RequestAction<ChannelAttempts.Ending>) {
        switch action {
        case .opened: takeReady()?.succeed(self)
        case .results(let results): for (ticket, ending) in results { finish(ticket, ending) }
        case .draining: state.withLock { $0.isOver = true }
        case .failed(let error):
            end()
            failed(error)
        case .ended(let possiblySent, let cause):
            let cause = cause ?? "the connection was closed"
            end()
            guard let open = state.withLock(\.open?.ticket) else { return }
            finish(open, possiblySent.contains(open) ? .unknown(cause) : .notSent(cause))
        case .roomChanged, .confirmed, .told, .stalled, .close: break
        }
    }

    private func finish(_ ticket: Ticket, _ ending: ChannelAttempts.Ending) {
        let promise = state.withLock { state in
            guard state.open?.ticket == ticket else { return nil as EventLoopPromise<ChannelAttempts.Ending>? }
            defer { state.open = nil }
            return state.open?.promise
        }
        promise?.succeed(ending.told(by: endpoint))
    }

    private func takeReady() -> EventLoopPromise<ManagementConnection>? {
        state.withLock { state in
            defer { state.ready = nil }
            return state.ready
        }
    }

    private func end() {
        state.withLock { state in
            state.isOver = true
            state.calls = []
            state.handler = nil
        }
    }
}

extension ChannelAttempts.Ending {
    /// The same ending with the name of the service in front of its cause.
    fileprivate func told(by endpoint: APNsEndpoint) -> ChannelAttempts.Ending {
        switch self {
        case .answered: self
        case .neverSent(let cause, let isLasting): .neverSent("\(endpoint): \(cause)", isLasting: isLasting)
        case .unknown(let cause): .unknown("\(endpoint): \(cause)")
        }
    }
}
