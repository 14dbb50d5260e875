internal import Foundation
public import Holdfast
internal import HoldfastTransport
internal import HummingbirdCore
public import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOPosix
public import ServiceLifecycle

/// Serves the desk of a running engine to operators: on `control.sock` in the journal's directory, as JSON over HTTP/1.1. Its
/// clients are the tool `holdfast`, ``RemoteDesk``, and every program that speaks HTTP through a Unix socket.
///
///     let control = ControlSocket(desk: engine.desk, journal: "/var/lib/app/push.journal")
///     let group = ServiceGroup(services: [control, engine], gracefulShutdownSignals: [.sigterm], logger: logger)
///
/// Only the process that owns the journal may run it. The socket has mode 0600 from its first moment, and serves processes of
/// the same user and of root. It replaces a socket that a dead owner left behind, and is removed at an orderly end. If somebody
/// else removes or replaces it, it is made again within some seconds, and the log says so once. List it before the engine, so
/// that it serves until the engine has ended.
///
/// A slow or hostile client loses its connection, and disturbs nothing else: connections, bytes and time are limited
/// (``Configuration``), and the engine never waits for a client.
public final class ControlSocket: Service, Sendable {
    /// The limits of the socket.
    public struct Configuration: Sendable {
        /// Connections at a time, each with one request at a time. As many more are answered 503; beyond those, connections
        /// are closed at once. Each takes at most 8 MiB for its request. A quarter of them is kept for orders: who waits for
        /// outcomes gets none of those. Default: 8.
        public var greatestConnections = 8
        /// How long a new connection may be silent. Default: 2 seconds.
        public var silenceLimit = Duration.seconds(2)
        /// How long a connection may be idle between two requests. Default: 60 seconds.
        public var idleLimit = Duration.seconds(60)
        /// How long a request may take to arrive, and an answer to be read. Default: 10 seconds.
        public var messageLimit = Duration.seconds(10)
        /// How long requests under way may take at shutdown. Default: 2 seconds.
        public var shutdownLimit = Duration.seconds(2)
        /// The time from the end of the listening socket, by a failure or since its file was gone, to the next attempt to make
        /// it. Default: 1 second.
        public var pauseAfterFailure = Duration.seconds(1)
        /// The time from one look whether the socket's file is in its place to the next. Default: 1 second.
        public var lookInterval = Duration.seconds(1)

        /// Creates the default limits.
        public init() {}

        /// The most descriptors that the socket has open.
        package var descriptors: Int { 2 * greatestConnections + 1 }

        /// Requests that may wait for outcomes at a time.
        var greatestWaits: Int { greatestConnections - max(1, greatestConnections / 4) }
    }

    private typealias Accepted = AcceptedConnection<HTTPRequestPart, HTTPResponsePart>

    /// Kinds of log lines, each told once a minute at most.
    private enum Line: String, Hashable, Sendable {
        case cannotAccept = "cannot-accept"
        case lost = "socket-lost"
        case failed = "socket-failed"
    }

    private struct State: Sendable {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// Connections that are not served, and are answered why.
        var refused: [ObjectIdentifier: any Channel] = [:]
        var isEnding = false
    }

    private let path: ControlPath
    private let configuration: Configuration
    private let limiter = Monitor(LogLimiter<Line>(interval: .seconds(60)))
    private let front: HTTPFront
    private let limits = MessageLimits()
    private let mayOperate: @Sendable (PeerCredentials) -> Bool
    private let logger: Logger
    private let state = Monitor(State())

    /// Creates a socket, which serves once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - desk: the desk to serve, such as `engine.desk`.
    ///   - directory: the directory of the journal. This process owns it.
    public convenience init(
        desk: any OperatorDesk, journal directory: String, configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "holdfast.control")
    ) {
        let user = geteuid()
        self.init(desk: desk, journal: directory, configuration: configuration, logger: logger) { peer in
            peer.mayOperate(asUser: user)
        }
    }

    /// The same, with answers to more than the desk knows.
    package convenience init(
        desk: any OperatorDesk, journal directory: String, further: FurtherRequests?, logger: Logger
    ) {
        let user = geteuid()
        self.init(
            desk: desk, journal: directory, configuration: Configuration(), further: further, logger: logger
        ) { peer in peer.mayOperate(asUser: user) }
    }

    init(
        desk: any OperatorDesk, journal directory: String, configuration: Configuration,
        further: FurtherRequests? = nil, logger: Logger, mayOperate: @escaping @Sendable (PeerCredentials) -> Bool
    ) {
        path = ControlPath(journal: directory)
        let waits = WaitPlaces(limit: configuration.greatestWaits)
        front = HTTPFront(server: RequestServer(desk: desk, waits: waits), limits: limits, further: further)
        self.mayOperate = mayOperate
        self.configuration = configuration
        self.logger = logger
    }

    /// The path of the socket.
    public var socketPath: String { path.socket }

    /// Serves until it is shut down or cancelled.
    ///
    /// - Throws: ``ControlError`` with code `cannotListen` when the socket can't be made at the start.
    public func run() async throws {
        try await withTaskCancellationOrGracefulShutdownHandler {
            // Connections outlive the listening socket that has accepted them.
            try await withThrowingDiscardingTaskGroup { connections in
                var isFirst = true
                while !state.withLock(\.isEnding) {
                    do {
                        try await listen(&connections)
                    } catch  where !isFirst {
                        tell(.failed, "the control socket \(path.socket) failed, and is made again: \(error)")
                    }
                    isFirst = false
                    guard !state.withLock(\.isEnding) else { break }
                    try await Task.sleep(for: configuration.pauseAfterFailure)
                }
            }
        } onCancelOrGracefulShutdown: {
            self.shutDown()
        }
    }

    private func shutDown() {
        let (listener, connections) = state.withLock { state in
            state.isEnding = true
            return (state.listener, Array(state.connections.values) + Array(state.refused.values))
        }
        listener?.close(promise: nil)
        let drain = ConnectionGuard.Drain(limit: TimeAmount(configuration.shutdownLimit))
        for connection in connections { connection.pipeline.fireUserInboundEventTriggered(drain) }
    }

    // MARK: Listening

    /// Until the listening socket closes.
    private func listen(_ connections: inout ThrowingDiscardingTaskGroup<any Error>) async throws {
        let (listener, file) = try await SocketFile.make(
            path,
            bind: { short in
                try await bootstrap().bind(unixDomainSocketPath: short) { channel in self.prepare(channel) }
            }, close: { listener in listener.channel.close(promise: nil) })
        let isWanted = state.withLock { state in
            state.listener = listener.channel
            return !state.isEnding
        }
        if !isWanted { listener.channel.close(promise: nil) }
        logger.debug("serving operators on \(path.socket)")
        let result = await withTaskGroup(of: Void.self) { tasks -> Result<Void, any Error> in
            let channel = listener.channel
            tasks.addTask { await self.look(after: file, channel) }
            defer { tasks.cancelAll() }
            do {
                return .success(try await accept(listener, &connections))
            } catch {
                return .failure(error)
            }
        }
        do { try file.remove() } catch { logger.warning("\(path.socket) can't be removed: \(FileFailure.text(error))") }
        if !state.withLock(\.isEnding) { try result.get() }
    }

    private func accept(
        _ listener: NIOAsyncChannel<Accepted, Never>, _ connections: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        try await listener.executeThenClose { accepted in
            for try await connection in accepted {
                connections.addTask { await self.serve(connection) }
            }
        }
    }

    /// Closes a listening socket whose file is gone, so that another is made. Until it is cancelled.
    private func look(after file: SocketFile, _ listener: any Channel) async {
        while true {
            do { try await Task.sleep(for: configuration.lookInterval) } catch { return }
            guard file.isLost else { continue }
            tell(
                .lost,
                "the control socket \(path.socket) is not there any more, since somebody has removed, replaced or changed "
                    + "it: it is made again, so that the service can be steered")
            listener.close(promise: nil)
            return
        }
    }

    private func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause { self.sayNothingIsAccepted($0) })
                }
            }
            // A client may close its side behind its last request, and read on.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 << 10))
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
    }

    private func sayNothingIsAccepted(_ error: any Error) {
        tell(.cannotAccept, "operators can't connect to \(path.socket), and it is tried again in a second: \(error)")
    }

    private func tell(_ line: Line, _ text: String) {
        let now = EngineClock.system.monotonic()
        guard limiter.withLock({ $0.admit(line, now: now) }) != nil else { return }
        logger.warning("\(text)", metadata: ["event": "\(line.rawValue)"])
    }

    private func prepare(_ channel: any Channel) -> EventLoopFuture<Accepted> {
        channel.eventLoop.makeCompletedFuture {
            // Before all others, since it looks at bytes.
            try channel.pipeline.syncOperations.addHandler(
                FirstBytes(
                    limit: TimeAmount(configuration.silenceLimit), greeting: try FirstBytes.greeting(.current)))
        }
        .flatMap { self.served.setup(channel: channel, logger: Self.quiet) }
        .flatMapThrowing { parts in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestHeads(), position: .after(decoder))
            return Accepted(parts)
        }
    }

    private var served: HTTP1Channel { http { [front] in try await front.answer($0, on: $1) } }

    /// HTTP/1.1, with this answer to each request.
    private func http(
        _ answer: @escaping @Sendable (Request, any Channel) async throws -> Response
    ) -> HTTP1Channel {
        let (idle, message) = (TimeAmount(configuration.idleLimit), TimeAmount(configuration.messageLimit))
        return HTTP1Channel(
            responder: { request, writer, channel in
                let response = try await answer(request, channel)
                try await writer.write(response: response.head, body: response.body)
            },
            configuration: .init(
                additionalChannelHandlers: [
                    ClientWatch(), ConnectionGuard(idleLimit: idle, messageLimit: message),
                ],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headByteCount, maxHeaderListSize: limits.headByteCount,
                    maxHeaderFieldCount: limits.fieldCount)))
    }

    /// Hummingbird's own lines about single connections are of no use to operators.
    private static let quiet: Logger = {
        var logger = Logger(label: "holdfast.control")
        logger.logLevel = .critical
        return logger
    }()

    // MARK: One connection

    private func serve(_ accepted: Accepted) async {
        let channel = accepted.channel
        do {
            try await admit(channel)
            defer { leave(channel) }
            await served.handle(value: accepted.take(), logger: Self.quiet)
        } catch let refusal as ControlError {
            guard isToBeTold(channel) else { return channel.close(promise: nil) }
            defer { leave(channel) }
            await http { _, _ in HTTPFront.closing(refusal) }.handle(value: accepted.take(), logger: Self.quiet)
        } catch {
            logger.debug("a connection to \(path.socket) ended: \(error)")
        }
    }

    /// - Throws: ``ControlError`` with code `permissionDenied` or `busy`.
    private func admit(_ channel: any Channel) async throws {
        let peer = try await PeerCredentials.read(channel)
        guard mayOperate(peer) else {
            logger.warning("process \(peer.process) of user \(peer.user) was refused at \(path.socket)")
            throw ControlError(
                .permissionDenied,
                "the journal belongs to another user: ask as the user of the process that uses it, or as root")
        }
        try state.withLock { state throws(ControlError) in
            guard !state.isEnding else {
                throw ControlError(
                    .busy, "the process that uses the journal is ending: ask again when the next one runs")
            }
            guard state.connections.count < configuration.greatestConnections else {
                throw ControlError(
                    .busy,
                    "\(state.connections.count) connections to \(path.socket) are open, and no more are allowed: ask again "
                        + "when one is closed")
            }
            state.connections[ObjectIdentifier(channel)] = channel
        }
    }

    /// Whether a connection that is not served may send its request, to be answered why.
    private func isToBeTold(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.isEnding, state.refused.count < configuration.greatestConnections else { return false }
            state.refused[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    private func leave(_ channel: any Channel) {
        state.withLock { state in
            state.connections[ObjectIdentifier(channel)] = nil
            state.refused[ObjectIdentifier(channel)] = nil
        }
    }
}
