internal import Foundation
public import Holdfast
internal import HoldfastPlatform
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The desk of an engine in another process, reached over its ``ControlSocket`` by HTTP.
///
/// Errors of the owner's journal are thrown as they were there, as `JournalError` and `Refusal`; errors on the way are a
/// ``ControlError``. Calls are answered in order. A connection that the owner has closed between two calls is made again.
public final class RemoteDesk: OperatorDesk {
    /// The timeouts of a client.
    public struct Configuration: Sendable {
        /// The timeout for connecting, which ends with the owner's first answer. Default: 5 seconds.
        public var connectLimit = Duration.seconds(5)
        /// The timeout for each answer. Default: 30 seconds.
        public var answerLimit = Duration.seconds(30)

        /// Creates the default timeouts.
        public init() {}
    }

    private let path: ControlPath
    private let configuration: Configuration
    private let limits = MessageLimits()
    private let channel = Monitor<(any Channel)?>(nil)
    /// The process that answers, and its program, for people: `process 4711 (holdfast)`.
    public let owner: String

    /// Connects to the owner of the journal in this directory.
    ///
    /// - Throws: ``ControlError``, with code `notServed` when nobody listens there.
    public init(journal directory: String, configuration: Configuration = Configuration()) async throws {
        path = ControlPath(journal: directory)
        self.configuration = configuration
        let (channel, owner) = try await Self.connect(path, configuration, limits)
        self.owner = owner.name
        self.channel.withLock { $0 = channel }
    }

    deinit { channel.withLock { $0 }?.close(promise: nil) }

    /// Closes the connection. A later call makes a new one.
    public func close() async {
        let channel = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        channel?.close(promise: nil)
        // It also ends when the owner has closed it before.
        do { try await channel?.closeFuture.get() } catch {}
    }

    // MARK: Calls

    /// - Throws: what the owner threw, and ``ControlError``.
    func call<Form: Decodable>(
        _ resource: Resource, query: String = "", _ body: [UInt8] = [], as form: Form.Type
    ) async throws -> Form {
        try limits.check(body, "a request")
        do {
            return try Self.read(try await send(resource, query, body), as: form)
        } catch  where Self.changesNothing(resource, error) {
            do {
                return try Self.read(try await send(resource, query, body), as: form)
            } catch is Unsent {
                throw ControlError(.disconnected, "the owner closes every connection before a request is sent")
            }
        }
    }

    /// Whether a failed request may be sent again on a new connection. An order whose answer is lost may be done, and is not
    /// repeated. A request that only reads may have met the owner's end of an idle connection.
    private static func changesNothing(_ resource: Resource, _ error: any Error) -> Bool {
        error is Unsent || resource.isRead && (error as? ControlError)?.code == .disconnected
    }

    /// The request was not sent whole, so nothing of it is done.
    private struct Unsent: Error {}

    private func send(_ resource: Resource, _ query: String, _ body: [UInt8]) async throws -> Answer {
        let channel = try await connection()
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        let call = Call(
            resource: resource, query: query, body: body, answer: answer, limit: configuration.answerLimit)
        channel.writeAndFlush(call).whenFailure { _ in answer.fail(Unsent()) }
        do {
            return try await answer.futureResult.get()
        } catch {
            // This connection is being closed; the next call makes another.
            self.channel.withLock { if $0 === channel { $0 = nil } }
            throw error
        }
    }

    private static func read<Value: Decodable>(_ answer: Answer, as form: Value.Type) throws -> Value {
        guard answer.status != 200 else { return try Form.read(form, answer.body, "the answer") }
        let error: ErrorForm
        do {
            error = try Form.read(ErrorForm.self, answer.body, "the answer")
        } catch {
            throw ControlError(.malformed, "the owner answers with HTTP status \(answer.status), and does not say why")
        }
        throw error.value
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
    /// Connects, and connects again while the owner's connections are all taken, for as long as connecting may take: other
    /// clients are done soon.
    private static func connect(
        _ path: ControlPath, _ configuration: Configuration, _ limits: MessageLimits
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
        _ path: ControlPath, _ configuration: Configuration, _ limits: MessageLimits
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
                    let first = Call(resource: .owner, body: [], answer: answer, limit: configuration.connectLimit)
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
                return (channel, try owner(try await answer.futureResult.get(), at: path))
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

    /// - Throws: what the owner said instead, or ``ControlError`` with code `otherVersion`.
    private static func owner(_ answer: Answer, at path: ControlPath) throws -> OwnerForm {
        let owner: OwnerForm
        do {
            owner = try read(answer, as: OwnerForm.self)
        } catch let error as ControlError where error.code == .unknownRequest {
            throw ControlError(
                .otherVersion,
                "the process that serves \(path.socket) does not speak this program's version of the control protocol, "
                    + "\(OwnerForm.currentVersion): use the tool of its Holdfast")
        }
        guard owner.version == OwnerForm.currentVersion else {
            throw ControlError(
                .otherVersion,
                """
                \(owner.name) speaks version \(owner.version) of the control protocol on \(path.socket), and this program \
                version \(OwnerForm.currentVersion): use the tool of its Holdfast
                """)
        }
        return owner
    }

    private static func describe(
        _ error: any Error, _ path: ControlPath, _ configuration: Configuration
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
