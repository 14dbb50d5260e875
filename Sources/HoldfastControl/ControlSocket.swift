internal import Foundation
public import Holdfast
internal import HoldfastListening
public import Logging
internal import NIOCore
internal import NIOPosix
public import ServiceLifecycle

/// Lets operators steer an engine while it runs: serves its desk on `control.sock` in the journal's directory, for the tool
/// `holdfast` and for ``RemoteDesk``.
///
///     let control = ControlSocket(desk: engine.desk, journal: "/var/lib/app/push.journal")
///     let group = ServiceGroup(services: [control, engine], gracefulShutdownSignals: [.sigterm], logger: logger)
///
/// Run by whoever owns the journal. The socket has mode 0600 from its first moment, and only processes of the same user,
/// and root's, are served. What a dead owner left behind is replaced; at an orderly end the socket is removed. Listed
/// before the engine, it serves until the engine has ended.
///
/// A slow or hostile client costs its connection: connections, bytes, and time are bounded (``Configuration``), and nothing
/// of the engine waits for one.
public final class ControlSocket: Service, Sendable {
    /// Every bound has its name here.
    public struct Configuration: Sendable {
        /// Connections at a time, each with one request at a time; one more is told so and closed. Each takes at most
        /// 8 MiB for what it says. Default: 8.
        public var greatestConnections = 8
        /// How long a connection may say nothing between two requests. Default: 60 seconds.
        public var idleLimit = Duration.seconds(60)
        /// How long a request may take to come, and an answer to be read. Default: 10 seconds.
        public var messageLimit = Duration.seconds(10)
        /// How long requests that are under way may take at the end. Default: 2 seconds.
        public var shutdownLimit = Duration.seconds(2)
        /// How long after a failure of the listening socket it is made again. Default: 1 second.
        public var pauseAfterFailure = Duration.seconds(1)

        public init() {}
    }

    typealias Connection = NIOAsyncChannel<ControlMessage, ControlMessage>
    private typealias Accepted = AcceptedConnection<ControlMessage, ControlMessage>

    private struct State: Sendable {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
        var isEnding = false
    }

    private let path: ControlPath
    private let configuration: Configuration
    private let acceptLimiter = Monitor(LogLimiter<Bool>(interval: .seconds(60)))
    private let server: RequestServer
    private let limits = MessageLimits()
    private let logger: Logger
    private let state = Monitor(State())

    /// - Parameters:
    ///   - desk: what is served; ``PushEngine/desk`` mostly.
    ///   - journal: the directory of the journal, which this process owns.
    public init(
        desk: any OperatorDesk, journal directory: String, configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "holdfast.control")
    ) {
        path = ControlPath(journal: directory)
        server = RequestServer(desk: desk, limits: limits)
        self.configuration = configuration
        self.logger = logger
    }

    /// The socket that it serves on.
    public var socketPath: String { path.socket }

    /// Serves until it is shut down or cancelled.
    ///
    /// - Throws: ``ControlError`` with code `cannotListen` when the socket can't be made at the start.
    public func run() async throws {
        try await withTaskCancellationOrGracefulShutdownHandler {
            var isFirst = true
            while !state.withLock(\.isEnding) {
                do {
                    try await listen()
                } catch  where !isFirst {
                    logger.warning("the control socket \(path.socket) failed, and is made again: \(error)")
                }
                isFirst = false
                guard !state.withLock(\.isEnding) else { break }
                try await Task.sleep(for: configuration.pauseAfterFailure)
            }
        } onCancelOrGracefulShutdown: {
            self.shutDown()
        }
    }

    private func shutDown() {
        let (listener, connections) = state.withLock { state in
            state.isEnding = true
            return (state.listener, Array(state.connections.values))
        }
        listener?.close(promise: nil)
        let drain = ConnectionGuard.Drain(limit: TimeAmount(configuration.shutdownLimit))
        for connection in connections { connection.pipeline.fireUserInboundEventTriggered(drain) }
    }

    // MARK: Listening

    /// Until the listening socket closes.
    private func listen() async throws {
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
        let result: Result<Void, any Error>
        do {
            result = .success(try await accept(listener))
        } catch {
            result = .failure(error)
        }
        do { try file.remove() } catch { logger.warning("\(path.socket) can't be removed: \(error)") }
        if !state.withLock(\.isEnding) { try result.get() }
    }

    private func accept(_ listener: NIOAsyncChannel<Accepted, Never>) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                for try await connection in connections {
                    group.addTask { await self.serve(connection) }
                }
            }
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
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 << 10))
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
    }

    private func sayNothingIsAccepted(_ error: any Error) {
        let now = EngineClock.system.monotonic()
        guard acceptLimiter.withLock({ $0.admit(true, now: now) }) != nil else { return }
        logger.warning(
            "operators can't connect to \(path.socket), and it is tried again in a second: \(error)",
            metadata: ["event": "cannot-accept"])
    }

    private func prepare(_ channel: any Channel) -> EventLoopFuture<Accepted> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
                MessageHandler(limits: limits),
                ConnectionGuard(
                    idleLimit: TimeAmount(configuration.idleLimit), messageLimit: TimeAmount(configuration.messageLimit)
                ),
            ])
            return Accepted(
                try Connection(
                    wrappingChannelSynchronously: channel,
                    configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 1))))
        }
    }

    // MARK: One connection

    private func serve(_ accepted: Accepted) async {
        do {
            let connection = accepted.take()
            try await connection.executeThenClose { requests, answers in
                do {
                    try await admit(connection.channel)
                } catch {
                    return try await answers.write(ControlMessage(failure: error))
                }
                defer { leave(connection.channel) }
                try await answers.write(try ControlMessage(head: Self.greeting))
                for try await request in requests { try await answers.write(await server.answer(request)) }
            }
        } catch {
            logger.debug("a connection to \(path.socket) ended: \(error)")
        }
    }

    /// - Throws: ``ControlError`` with code `permissionDenied` or `busy`.
    private func admit(_ channel: any Channel) async throws {
        let peer = try await PeerCredentials.read(channel)
        guard peer.mayOperate(asUser: geteuid()) else {
            logger.warning("process \(peer.process) of user \(peer.user) was refused at \(path.socket)")
            throw ControlError(.permissionDenied, "the journal belongs to another user")
        }
        try state.withLock { state throws(ControlError) in
            guard !state.isEnding else { throw ControlError(.busy, "the journal's owner is ending") }
            guard state.connections.count < configuration.greatestConnections else {
                throw ControlError(
                    .busy, "\(state.connections.count) connections to \(path.socket) are open, and no more are allowed")
            }
            state.connections[ObjectIdentifier(channel)] = channel
        }
    }

    private func leave(_ channel: any Channel) {
        state.withLock { state in state.connections[ObjectIdentifier(channel)] = nil }
    }

    private static var greeting: Greeting {
        let process = ProcessInfo.processInfo
        return Greeting(pid: process.processIdentifier, program: process.processName)
    }
}
