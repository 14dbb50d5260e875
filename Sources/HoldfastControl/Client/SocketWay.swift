internal import Foundation
internal import Holdfast
internal import HoldfastPlatform
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The way to an owner over its socket.
final class SocketWay: WayToOwner {
    private let path: ControlPath
    private let configuration: RemoteDesk.Configuration
    private let limits: MessageLimits
    private let channel: Monitor<(any Channel)?>

    private init(
        _ path: ControlPath, _ configuration: RemoteDesk.Configuration, _ limits: MessageLimits, _ channel: any Channel
    ) {
        (self.path, self.configuration, self.limits) = (path, configuration, limits)
        self.channel = Monitor(channel)
    }

    /// - Throws: ``ControlError``, with code `notServed` when nobody listens there.
    static func connect(
        _ path: ControlPath, _ configuration: RemoteDesk.Configuration, _ limits: MessageLimits
    ) async throws -> (SocketWay, OwnerForm) {
        let (channel, owner) = try await connected(path, configuration, limits)
        return (SocketWay(path, configuration, limits, channel), owner)
    }

    deinit { channel.withLock { $0 }?.close(promise: nil) }

    func close() async {
        let channel = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        channel?.close(promise: nil)
        // It also ends when the owner has closed it before.
        do { try await channel?.closeFuture.get() } catch {}
    }

    func send(_ resource: Resource, _ query: String, _ body: [UInt8]) async throws -> Answer {
        try await send { [configuration] answer in
            Call(resource, query: query, body: body, answer: answer, limit: configuration.answerLimit)
        }
    }

    func send(path: String, _ body: [UInt8]) async throws -> Answer {
        try await send { [configuration] answer in
            Call(path: path, body: body, answer: answer, limit: configuration.answerLimit)
        }
    }

    private func send(_ make: (EventLoopPromise<Answer>) -> Call) async throws -> Answer {
        let channel = try await connection()
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        let call = make(answer)
        channel.writeAndFlush(call).whenFailure { _ in answer.fail(Unsent()) }
        do {
            return try await answer.futureResult.get()
        } catch {
            // This connection is being closed; the next call makes another.
            self.channel.withLock { if $0 === channel { $0 = nil } }
            throw error
        }
    }

    private func connection() async throws -> any Channel {
        if let channel = channel.withLock({ $0 }), channel.isActive { return channel }
        let (fresh, _) = try await Self.connected(path, configuration, limits)
        let superfluous = channel.withLock { channel -> (any Channel)? in
            if let channel, channel.isActive { return fresh }
            channel = fresh
            return nil
        }
        guard let superfluous else { return fresh }
        superfluous.close(promise: nil)
        return try await connection()
    }
}

extension SocketWay {
    /// Connects, and connects again while the owner's connections are all taken, for as long as connecting may take: other
    /// clients are done soon.
    private static func connected(
        _ path: ControlPath, _ configuration: RemoteDesk.Configuration, _ limits: MessageLimits
    ) async throws -> (any Channel, OwnerForm) {
        let deadline = ContinuousClock.now + configuration.connectLimit
        var longest = 20
        while true {
            do {
                return try await connectOnce(path, configuration, limits)
            } catch let error as ControlError where error.code == .busy || error.code == .disconnected {
                // Many that were refused at once must not come back at once.
                let pause = Duration.milliseconds(Int.random(in: longest / 2...longest))
                guard ContinuousClock.now + pause < deadline else { throw error }
                try await Task.sleep(for: pause)
                longest = min(2 * longest, 200)
            }
        }
    }

    private static func connectOnce(
        _ path: ControlPath, _ configuration: RemoteDesk.Configuration, _ limits: MessageLimits
    ) async throws -> (any Channel, OwnerForm) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let limit = TimeAmount(configuration.connectLimit)
        let answer = loop.makePromise(of: Answer.self)
        let timer = loop.scheduleTask(in: limit) { answer.fail(ControlError(.timedOut, "")) }
        defer { timer.cancel() }
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(limit)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let first = Call(.owner, body: [], answer: answer, limit: configuration.connectLimit)
                    try channel.pipeline.syncOperations.addHandler(FirstWord())
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(CallHandler(limits: limits, first: first))
                }
            }
        do {
            let directory = try path.open()
            let channel = try await Self.untilQueued(within: configuration.connectLimit) {
                try await bootstrap.connect(unixDomainSocketPath: directory.path(of: ControlPath.name)).get()
            }
            // Its path was valid until here.
            withExtendedLifetime(directory) {}
            do {
                return (channel, try RemoteDesk.owner(try await answer.futureResult.get(), at: path.socket))
            } catch {
                channel.close(promise: nil)
                throw error
            }
        } catch {
            // After a failed connect nobody else completes the promise.
            answer.fail(error)
            throw describe(error, path, configuration)
        }
    }

    /// Connects again while the owner's queue of new connections is full. That passes soon: the owner is under load, or many
    /// clients connect at once.
    private static func untilQueued<R>(within limit: Duration, _ connect: () async throws -> R) async throws -> R {
        let deadline = ContinuousClock.now + limit
        var pause = Duration.milliseconds(5)
        while true {
            do {
                return try await connect()
            } catch let error as IOError where error.errnoCode == EAGAIN && ContinuousClock.now + pause < deadline {
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(100))
            }
        }
    }

    private static func describe(
        _ error: any Error, _ path: ControlPath, _ configuration: RemoteDesk.Configuration
    ) -> any Error {
        switch error {
        case let error as ControlError where error.code == .timedOut:
            ControlError(
                .timedOut,
                "nobody answers on \(path.socket) within \(configuration.connectLimit.words): see whether the process that uses "
                    + "the journal hangs or is stopped (`holdfast lanes list` names it; `kill -CONT` goes on with a stopped "
                    + "one), and try again")
        case let error as ControlError where error.code == .disconnected:
            ControlError(
                .disconnected, "the journal's owner closed the connection to \(path.socket) before it was used")
        case let error as IOError where [ENOENT, ECONNREFUSED, ENOTDIR].contains(error.errnoCode):
            ControlError(
                .notServed, "nobody serves \(path.socket): no process uses the journal, or it runs no control socket")
        case let error as IOError where [EACCES, EPERM].contains(error.errnoCode):
            ControlError(
                .permissionDenied,
                "\(path.socket) belongs to another user: run this as the user of the process that uses the journal, or as root"
            )
        case let error as IOError where error.errnoCode == EAGAIN:
            ControlError(.busy, "too many clients wait to be connected to \(path.socket): try again")
        case is ControlError, is JournalError, is Refusal: error
        case let error as IOError where [ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN].contains(error.errnoCode):
            ControlError(.disconnected, "the process that serves \(path.socket) has ended: \(error)")
        case ChannelError.connectTimeout:
            ControlError(.timedOut, "\(path.socket) can't be connected to: \(error)")
        // It was closed before it was used.
        case is ChannelError: ControlError(.disconnected, "\(path.socket) can't be connected to: \(error)")
        default: ControlError(.failed, "\(path.socket) can't be connected to: \(error)")
        }
    }
}
