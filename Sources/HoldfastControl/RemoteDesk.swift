internal import Foundation
internal import Glibc
public import Holdfast
internal import NIOCore
internal import NIOPosix

/// The desk of an engine in another process, reached over its ``ControlSocket``.
///
/// Errors of the owner's journal are thrown as they were there, `JournalError` and `Refusal`; ``ControlError`` says what
/// went wrong on the way. Calls are answered in their order. A connection that the owner has closed between two calls is
/// made again.
public final class RemoteDesk: OperatorDesk {
    /// Every bound has its name here.
    public struct Configuration: Sendable {
        /// For connecting, up to and with the owner's greeting. Default: 5 seconds.
        public var connectLimit = Duration.seconds(5)
        /// For each answer. Default: 30 seconds.
        public var answerLimit = Duration.seconds(30)

        public init() {}
    }

    private let path: ControlPath
    private let configuration: Configuration
    private let limits = MessageLimits()
    private let channel = Monitor<(any Channel)?>(nil)
    /// Who answers, for people: the process and its program.
    public let owner: String

    /// Connects to the owner of the journal in this directory.
    ///
    /// - Throws: ``ControlError``, with code `notServed` when nobody listens there.
    public init(journal directory: String, configuration: Configuration = Configuration()) async throws {
        path = ControlPath(journal: directory)
        self.configuration = configuration
        let (channel, greeting) = try await Self.connect(path, configuration, limits)
        owner = "process \(greeting.pid) (\(greeting.program))"
        self.channel.withLock { $0 = channel }
    }

    deinit { channel.withLock { $0 }?.close(promise: nil) }

    /// Lets go of the connection. A later call makes a new one.
    public func close() async {
        let channel = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        channel?.close(promise: nil)
        // Also when the owner was first.
        do { try await channel?.closeFuture.get() } catch {}
    }

    // MARK: Calls

    /// - Returns: the answer's head and all of it.
    func call(_ request: Request) async throws -> (AnswerHead, ControlMessage) {
        let message = try request.message()
        try message.check(limits)
        let answer: ControlMessage
        do {
            answer = try await send(message)
        } catch is Unsent {
            do {
                answer = try await send(message)
            } catch is Unsent {
                throw ControlError(.disconnected, "the owner closes every connection before a request is sent")
            }
        }
        return (try answer.answer(), answer)
    }

    /// Not all of the request has left: nothing of it is done.
    private struct Unsent: Error {}

    private func send(_ message: ControlMessage) async throws -> ControlMessage {
        let channel = try await connection()
        let answer = channel.eventLoop.makePromise(of: ControlMessage.self)
        let call = Call(message: message, answer: answer, limit: TimeAmount(configuration.answerLimit))
        channel.writeAndFlush(call).whenFailure { _ in answer.fail(Unsent()) }
        do {
            return try await answer.futureResult.get()
        } catch {
            // It is being closed; the next call makes another.
            self.channel.withLock { if $0 === channel { $0 = nil } }
            throw error
        }
    }

    private func connection() async throws -> any Channel {
        if let channel = channel.withLock({ $0 }), channel.isActive { return channel }
        let (fresh, _) = try await Self.connect(path, configuration, limits)
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

extension RemoteDesk {
    private static func connect(
        _ path: ControlPath, _ configuration: Configuration, _ limits: MessageLimits
    ) async throws -> (any Channel, Greeting) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let greeted = loop.makePromise(of: ControlMessage.self)
        let timer = loop.scheduleTask(in: TimeAmount(configuration.connectLimit)) {
            greeted.fail(
                ControlError(.timedOut, "nobody greets on \(path.socket) within \(configuration.connectLimit)"))
        }
        defer { timer.cancel() }
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(configuration.connectLimit))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        MessageHandler(limits: limits), CallHandler(greeting: greeted),
                    ])
                }
            }
        do {
            let directory = try path.open()
            let channel = try await Self.untilQueued(within: configuration.connectLimit) {
                try await bootstrap.connect(unixDomainSocketPath: directory.path(of: ControlPath.name)).get()
            }
            // Until here.
            withExtendedLifetime(directory) {}
            do {
                return (channel, try Self.greeting(try await greeted.futureResult.get(), at: path))
            } catch {
                channel.close(promise: nil)
                throw error
            }
        } catch {
            // When connecting failed, nobody else completes it.
            greeted.fail(error)
            throw describe(error, path)
        }
    }

    /// Connects again while the owner's queue of connections is full, which is a matter of a moment: an owner under load,
    /// or many who ask at once.
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

    /// - Throws: what the owner said instead of a greeting, or ``ControlError`` with code `otherVersion`.
    private static func greeting(_ message: ControlMessage, at path: ControlPath) throws -> Greeting {
        if let refusal = try message.head(as: AnswerHead.self).error { throw refusal.error }
        let greeting = try message.head(as: Greeting.self)
        guard greeting.version == Greeting.currentVersion else {
            throw ControlError(
                .otherVersion,
                """
                process \(greeting.pid) (\(greeting.program)) speaks version \(greeting.version) of the control protocol \
                on \(path.socket), and this program version \(Greeting.currentVersion): use the tool of its Holdfast
                """)
        }
        return greeting
    }

    private static func describe(_ error: any Error, _ path: ControlPath) -> any Error {
        switch error {
        case let error as IOError where [ENOENT, ECONNREFUSED, ENOTDIR].contains(error.errnoCode):
            ControlError(.notServed, "nobody serves \(path.socket)")
        case let error as IOError where [EACCES, EPERM].contains(error.errnoCode):
            ControlError(.permissionDenied, "\(path.socket) belongs to another user")
        case let error as IOError where error.errnoCode == EAGAIN:
            ControlError(.busy, "too many wait to be connected to \(path.socket)")
        case is ControlError, is JournalError, is Refusal: error
        case is ChannelError: ControlError(.timedOut, "\(path.socket) can't be connected to: \(error)")
        default: ControlError(.failed, "\(path.socket) can't be connected to: \(error)")
        }
    }
}
