/// A push service's feedback: a list of devices that do not take an app's notifications any more.
///
/// Reading clears the service's list, so tuples that are read and not stored are lost. A source therefore passes on what it
/// reads in batches, and reads on only when a batch is stored.
///
/// `LegacyAPNsFeedback` (module `HoldfastLegacyAPNs`) reads the binary protocol's; `InMemoryFeedback` (module
/// `HoldfastTesting`) is for tests.
public protocol FeedbackSource: Sendable {
    /// The service's address, for logs: `feedback+tls://feedback.example.com:2196`.
    var endpoint: String { get }

    /// Connects and reads the service's whole list, once.
    ///
    /// - Everything that was read is passed to `take` before this returns or throws, even if the reading fails or its task is
    ///   cancelled. A cancelled reading reads no more.
    /// - While `take` runs, nothing is read beyond buffers of a fixed size.
    /// - A service that falls silent ends the reading by a timeout.
    ///
    /// - Parameter take: stores a batch, durably on return. Its error is rethrown, and nothing more is read. Called for one
    ///   batch at a time, with at least one tuple.
    /// - Throws: ``FeedbackError``, after everything that was read was passed on.
    func read(_ take: @Sendable ([FeedbackTuple]) async throws(FeedbackError) -> Void) async throws(FeedbackError)
}

/// One device on which the app is not installed any more, or does not take notifications.
public struct FeedbackTuple: Hashable, Sendable, CustomStringConvertible {
    /// The token's bytes as they came, of any number.
    public let tokenBytes: [UInt8]
    /// The time at which the service determined that. A token that was registered later is valid.
    public let since: WallTime

    /// Creates a tuple from the bytes that came, whether a token can have as many or not.
    public init(tokenBytes: [UInt8], since: WallTime) {
        self.tokenBytes = tokenBytes
        self.since = since
    }

    /// Creates a tuple for a token.
    public init(token: DeviceToken, since: WallTime) { self.init(tokenBytes: token.bytes, since: since) }

    /// The token; `nil` if no token has so many bytes (see ``DeviceToken``), so that nothing can be sent to it either.
    public var token: DeviceToken? { DeviceToken(bytes: tokenBytes) }

    /// With the token shortened, so that it never reaches a log whole by accident.
    public var description: String {
        "\(token?.shortened ?? "a token of \(tokenBytes.count) bytes") since \(Timestamp.format(since))"
    }
}

/// Why a reading of the feedback failed. The tuples read before are stored, unless the code is ``Code/notStored``.
public struct FeedbackError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. More may come.
    public struct Code: Hashable, Sendable {
        let name: String
        init(_ name: String) { self.name = name }

        /// Nobody listens, the network is down, or the connection broke: try again later.
        public static let connection = Code("connection")
        /// An untrusted certificate, a wrong host name or a bad key: an operator must act.
        public static let configuration = Code("configuration")
        /// The bytes are not feedback, or end in the middle of a tuple.
        public static let malformed = Code("malformed")
        /// The blacklist could not store tuples, and the service does not have them any more. The application got them.
        public static let notStored = Code("not stored")
    }

    /// The kind of failure.
    public let code: Code
    /// A message for operators: what happened, to what, and what to do.
    public let message: String
    /// The number of tuples that this reading had stored before.
    public internal(set) var kept = 0

    /// Creates an error with a message for operators.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Creates an error from a failed connection attempt.
    public init(_ error: ConnectError) {
        self.init(error.kind == .configuration ? .configuration : .connection, error.message)
    }

    /// The ``message``.
    public var description: String { message }
}
