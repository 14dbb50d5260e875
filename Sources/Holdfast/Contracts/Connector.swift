/// Connects to one push service with one set of credentials.
///
/// A connector never sees the journal. Its connections get entries, each with a ``Ticket``, and answer for every ticket
/// exactly once through their ``ConnectionSink``: with a result, or with the connection's end, which answers for all that are
/// left.
public protocol Connector: Sendable {
    /// How the service confirms. Must not change.
    var confirmationMode: ConfirmationMode { get }

    /// The limits that `submit` applies for this connector. Read for each submission, since they may change with the
    /// credentials.
    var limits: NotificationLimits { get }

    /// The service's address, for logs and status: `https://api.push.apple.com:443`.
    var endpoint: String { get }

    /// The identity of the push service that answers. Default: the ``endpoint``.
    ///
    /// Equal for two connectors whose service judges tokens alike, whatever their address or proxy; different for another
    /// environment. Blacklist entries are for one identity and are kept on disk, so it must not change with the process.
    var serviceIdentity: String { get }

    /// Called once for each route of an engine, before the first ``connect(_:)``. Does nothing by default.
    ///
    /// - Parameter host: the engine's services for the connector.
    func begin(_ host: ConnectorHost)

    /// Reads the connector's keys and certificates again. Does nothing by default.
    ///
    /// Valid ones are used from then on, without the loss of a notification. The connector calls
    /// ``ConnectorHost/credentialsChanged()`` even if nothing changed, since an operator may have fixed something elsewhere.
    ///
    /// - Throws: an error whose description is for operators; the connector then keeps what it used before.
    func reload() async throws

    /// Makes a connection that is ready for entries.
    ///
    /// - Parameter sink: takes the connection's events, from any thread, in batches.
    /// - Throws: ``ConnectError``; the engine tries again with backoff.
    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection
}

extension Connector {
    /// The ``endpoint``, by default.
    public var serviceIdentity: String { endpoint }

    /// Does nothing by default.
    public func begin(_ host: ConnectorHost) {}

    /// Does nothing by default: the connector has no credentials that could change.
    public func reload() async throws {}
}

/// One connection of a ``Connector``.
public protocol Connection: AnyObject, Sendable {
    /// The most entries that may be with the connection without an answer; at least 1. If only errors are answered: the most
    /// that are not yet reported as ``ConnectorEvent/sent(through:)``. A change is reported as
    /// ``ConnectorEvent/capacityChanged(_:)``.
    var capacity: Int { get }

    /// The number of entries that the service works on at a time. Default: ``capacity``.
    ///
    /// The rest of ``capacity`` waits in the connection. The engine fills the streams of all connections of a route before
    /// any entry waits, and lets none wait in a connection on which nothing was confirmed yet. A change is reported as
    /// ``ConnectorEvent/capacityChanged(_:)``.
    var streams: Int { get }

    /// Sends entries in this order. Must not block. Tickets that are handed out after the end are answered by it: they
    /// were provably not sent.
    func send(_ handOut: HandOut)

    /// Stops taking entries, waits for answers for at most `deadline`, then reports ``ConnectorEvent/ended(_:)``.
    func close(deadline: Duration)
}

extension Connection {
    /// The ``capacity``, by default: the service works on everything at a time.
    public var streams: Int { capacity }
}

/// How a push service confirms. There is no third way, so no case is added.
public enum ConfirmationMode: Hashable, Sendable {
    /// The service answers each notification. Silence means *unknown*, never success.
    case perNotification
    /// The service answers errors only, as in the binary APNs protocol. A ``PayloadError`` proves that everything before it
    /// was taken, and nothing after it.
    ///
    /// `quietPeriod`: a notification without an error for this long counts as taken. With `nil` silence proves nothing, and
    /// only errors and barriers do. Connections are ``CumulativeConnection``s.
    case cumulative(quietPeriod: Duration?)
}

/// A connection on which only errors are answered.
///
/// Its tickets are positions: 1, 2, 3 … in the order of ``Connection/send(_:)``, which is the order on the wire. It reports
/// ``ConnectorEvent/sent(through:)``, ``ConnectorEvent/payloadError(_:)``, ``ConnectorEvent/barrierAnswered(through:)`` and
/// ``ConnectorEvent/listened(stamp:)``, and never ``ConnectorEvent/confirmed(_:)`` or ``ConnectorEvent/results(_:)``. After a
/// payload error it reports ``ConnectorEvent/ended(_:)``, since the service closes.
public protocol CumulativeConnection: Connection {
    /// Reads and reports everything that the peer has sent until now, then reports ``ConnectorEvent/listened(stamp:)`` with
    /// this stamp. The engine takes silence for success only after that.
    func listen(stamp: UInt64)

    /// Whether ``writeBarrier()`` can prove anything.
    var canWriteBarrier: Bool { get }

    /// Writes a barrier after everything else: a notification that is malformed on purpose. Its error response proves that
    /// everything before it was taken (``ConnectorEvent/barrierAnswered(through:)``). Nothing may be sent on the connection
    /// afterwards.
    func writeBarrier()
}

/// The error of a failed connection attempt. Nothing was sent.
public struct ConnectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether a retry alone can help. It can or it can't, so no case is added.
    public enum Kind: Hashable, Sendable {
        /// Nobody listens, the network is down, or the service refuses for now. Retried with backoff.
        case temporary
        /// An untrusted certificate, a wrong host name or a bad key. Retried too, but an operator must act.
        case configuration
    }

    /// Whether a retry alone can help.
    public let kind: Kind
    /// A message for operators: what happened, to what, and what to do.
    public let message: String

    /// The next step alone, for who looks for the cause; nil where the message says it, or nobody knows.
    package let advice: String?

    /// Creates an error with a message for operators, which must hold no secret.
    public init(_ kind: Kind, _ message: String) { self.init(kind, message, advice: nil) }

    package init(_ kind: Kind, _ message: String, advice: String?) {
        (self.kind, self.message, self.advice) = (kind, message, advice)
    }

    /// The ``message``.
    public var description: String { message }
}
