/// Where a push service says which devices do not take an app's notifications any more.
///
/// Reading clears the service's list: what was read and not kept is lost. So a source hands over what it reads batch by
/// batch, and reads on only when a batch is kept.
///
/// `LegacyAPNsFeedback` (module `HoldfastLegacyAPNs`) reads the binary protocol's; `InMemoryFeedback` (module
/// `HoldfastTesting`) is for tests.
public protocol FeedbackSource: Sendable {
    /// Where it reads, for people: `feedback+tls://feedback.example.com:2196`.
    var endpoint: String { get }

    /// Reads once, from connecting to the end of what the service has to say.
    ///
    /// - Everything that was read is handed over before this returns or throws, also when the reading fails or its task
    ///   is cancelled. A cancelled reading reads no more.
    /// - Nothing is read on while `take` runs, beyond buffers of a fixed size.
    /// - It ends: a service that falls silent is waited for so long and no longer.
    ///
    /// - Parameter take: keeps a batch; on return it is durable. What it throws is to be passed on, and nothing more read.
    ///   Called for one batch at a time, with at least one tuple.
    /// - Throws: ``FeedbackError``, after everything that was read was handed over.
    func read(_ take: @Sendable ([FeedbackTuple]) async throws(FeedbackError) -> Void) async throws(FeedbackError)
}

/// One device on which an app is not there any more, or does not take notifications.
public struct FeedbackTuple: Hashable, Sendable, CustomStringConvertible {
    /// The token's bytes as they came, however many.
    public let tokenBytes: [UInt8]
    /// Since when, by the service: the time it determined that. A token that was registered later is good.
    public let since: WallTime

    /// Creates a tuple from the bytes that came, whether a token can have as many or not.
    public init(tokenBytes: [UInt8], since: WallTime) {
        self.tokenBytes = tokenBytes
        self.since = since
    }

    /// Creates a tuple for a token.
    public init(token: DeviceToken, since: WallTime) { self.init(tokenBytes: token.bytes, since: since) }

    /// The token; nil when no token has so many bytes (see ``DeviceToken``): then nothing can be sent to it either.
    public var token: DeviceToken? { DeviceToken(bytes: tokenBytes) }

    /// With the token shortened, so that it never reaches a log whole by accident.
    public var description: String {
        "\(token?.shortened ?? "a token of \(tokenBytes.count) bytes") since \(since.seconds)"
    }
}

/// Why a reading of the feedback ended before its time. What it had read by then was kept, unless the code is
/// ``Code/notStored``.
public struct FeedbackError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. More may come.
    public struct Code: Hashable, Sendable {
        let name: String
        init(_ name: String) { self.name = name }

        /// Nobody listens, the network is away, the connection broke: try again later.
        public static let connection = Code("connection")
        /// An untrusted certificate, a wrong host name, a bad key: somebody must mend it.
        public static let configuration = Code("configuration")
        /// What came is not feedback, or ends in the middle of a tuple.
        public static let malformed = Code("malformed")
        /// The blacklist could not keep what was read: the service does not know it any more. The application was told.
        public static let notStored = Code("not stored")
    }

    /// The kind of failure.
    public let code: Code
    /// For people: what happened, to what, and what to do.
    public let message: String
    /// How many tuples this reading had kept before.
    public internal(set) var kept = 0

    /// Creates an error with a message for operators.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameter error: why no connection came about.
    public init(_ error: ConnectError) {
        self.init(error.kind == .configuration ? .configuration : .connection, error.message)
    }

    /// The ``message``.
    public var description: String { message }
}
