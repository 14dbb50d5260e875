internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastTransport
internal import NIOCore

/// A connection to the management service, for one request at a time.
final class ManagementConnection: Sendable {
    /// What it was opened with.
    let credentials: Credentials
    private let channel: any Channel
    private let handler: NIOLoopBound<ManagementHandler>
    /// Whether nothing more can be sent on it; the handler says so.
    private let isOver: Monitor<Bool>

    /// Opens one. It is usable once the service has sent its SETTINGS.
    static func open(
        _ configuration: APNsConnector.Configuration, _ credentials: Credentials
    ) async throws(ConnectError) -> ManagementConnection {
        if let problem = credentials.problem(at: EngineClock.system.wall()) {
            throw ConnectError(.configuration, problem)
        }
        let endpoint = configuration.endpoint
        return try await configuration.dialer(credentials).connect(on: Dialer.nextLoop()) {
            (channel, _, ready: EventLoopPromise<ManagementConnection>) in
            let handler = ManagementHandler(endpoint, credentials, ready: ready)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }

    /// On the event loop.
    init(_ credentials: Credentials, _ channel: any Channel, _ handler: ManagementHandler, isOver: Monitor<Bool>) {
        self.credentials = credentials
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.isOver = isOver
    }

    /// Whether a request may be sent on it, as far as is known.
    var isUsable: Bool { !isOver.withLock { $0 } }

    /// Sends a request and waits for its end. A task that is cancelled gives it up.
    func send(
        _ request: ChannelRequest, authorization: [UInt8]?, within limit: Duration
    ) async -> ChannelAttempts.Ending {
        let promise = channel.eventLoop.makePromise(of: ChannelAttempts.Ending.self)
        channel.eventLoop.execute { [handler] in
            handler.value.send(request, authorization, within: limit, promise)
        }
        return await withTaskCancellationHandler {
            do { return try await promise.futureResult.get() } catch { return .unknown("\(error)") }
        } onCancel: {
            channel.eventLoop.execute { [handler] in handler.value.giveUp("it was given up") }
        }
    }

    /// Says goodbye and closes it.
    func close() {
        isOver.withLock { $0 = true }
        channel.eventLoop.execute { [handler] in handler.value.leave() }
    }
}
