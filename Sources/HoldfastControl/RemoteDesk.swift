public import Holdfast

/// The desk of an engine in another process: over its ``ControlSocket`` by HTTP, or by another way to it.
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

    private let way: any WayToOwner
    private let limits = MessageLimits()
    /// The process that answers, and its program, for people: `process 4711 (holdfast)`.
    public let owner: String

    /// Connects to the owner of the journal in this directory.
    ///
    /// - Throws: ``ControlError``, with code `notServed` when nobody listens there.
    public init(journal directory: String, configuration: Configuration = Configuration()) async throws {
        let (socket, owner) = try await SocketWay.connect(ControlPath(journal: directory), configuration, limits)
        way = socket
        self.owner = owner.name
    }

    /// Asks the owner by way of something that carries bytes, where a ``ControlTunnel`` answers.
    ///
    /// - Parameters:
    ///   - ask: sends a request, and returns the answer and the name of the host that has given it.
    ///   - close: called once.
    /// - Throws: what `ask` throws, and ``ControlError``.
    package init(
        through ask: @escaping @Sendable (_ request: [UInt8]) async throws -> (host: String, answer: [UInt8]),
        close: @escaping @Sendable () async -> Void
    ) async throws {
        let tunnel = TunnelWay(ask: ask, end: close)
        way = tunnel
        do {
            let (host, answer) = try await tunnel.send(.owner)
            owner = "\(try Self.owner(answer, at: host).name) on \(host)"
        } catch {
            await close()
            throw error
        }
    }

    /// Closes the connection. A later call makes a new one.
    public func close() async { await way.close() }

    // MARK: Calls

    /// - Throws: what the owner threw, and ``ControlError``.
    func call<Form: Decodable>(
        _ resource: Resource, query: String = "", _ body: [UInt8] = [], as form: Form.Type
    ) async throws -> Form {
        try limits.check(body, "a request")
        return try await repeated(isRead: resource.isRead, as: form) { try await self.way.send(resource, query, body) }
    }

    /// Asks what the owner may answer beyond the resources of a socket.
    ///
    /// - Parameter isRead: whether asking changes nothing.
    /// - Throws: what the owner threw, and ``ControlError``, with code `unknownRequest` where the owner answers no such thing.
    package func ask<Value: Decodable>(
        _ path: String, isRead: Bool = false, _ body: some Encodable, as form: Value.Type
    ) async throws -> Value {
        let bytes = try Form.line(body)
        try limits.check(bytes, "a request")
        return try await repeated(isRead: isRead, as: form) { try await self.way.send(path: path, bytes) }
    }

    /// Sends, and once more on a new connection where nothing can have been done. An order whose answer is lost may be done, and
    /// is not repeated. A request that only reads may have met the owner's end of an idle connection.
    private func repeated<Value: Decodable>(
        isRead: Bool, as form: Value.Type, _ send: () async throws -> Answer
    ) async throws -> Value {
        do {
            return try Self.read(try await send(), as: form)
        } catch  where error is Unsent || isRead && (error as? ControlError)?.code == .disconnected {
            do {
                return try Self.read(try await send(), as: form)
            } catch is Unsent {
                throw ControlError(.disconnected, "the owner closes every connection before a request is sent")
            }
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

    /// - Parameter place: where the owner answers, for people.
    /// - Throws: what the owner said instead, or ``ControlError`` with code `otherVersion`.
    static func owner(_ answer: Answer, at place: String) throws -> OwnerForm {
        let owner: OwnerForm
        do {
            owner = try read(answer, as: OwnerForm.self)
        } catch let error as ControlError where error.code == .unknownRequest {
            throw ControlError(
                .otherVersion,
                "the process that serves \(place) does not speak this program's version of the control protocol, "
                    + "\(OwnerForm.currentVersion): use the tool of its Holdfast")
        }
        guard owner.version == OwnerForm.currentVersion else {
            throw ControlError(
                .otherVersion,
                """
                \(owner.name) speaks version \(owner.version) of the control protocol on \(place), and this program \
                version \(OwnerForm.currentVersion): use the tool of its Holdfast
                """)
        }
        return owner
    }
}
