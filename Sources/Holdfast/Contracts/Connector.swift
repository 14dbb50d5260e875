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
    /// any entry waits. A change is reported as ``ConnectorEvent/capacityChanged(_:)``.
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

/// The service's refusal of one notification of a ``CumulativeConnection``. It discarded everything after it.
public struct PayloadError: Hashable, Sendable {
    /// The two forms of such an error. The binary protocol knows no other, so no case is added.
    public enum Kind: Hashable, Sendable {
        /// The notification at the position was refused; everything before it was taken.
        case refused(SendResult)
        /// Everything up to and including the position was taken (status 10 of the binary protocol).
        case lastGood
    }

    /// The position that the service names. It need not be an unconfirmed one: the engine checks it.
    public let position: Ticket
    /// Whether the notification at ``position`` was refused, or was the last one taken.
    public let kind: Kind

    /// Creates an error about the notification at `position`.
    public init(position: Ticket, kind: Kind) {
        self.position = position
        self.kind = kind
    }
}

/// The name of one hand-out of one entry to one connection; never reused on it.
public struct Ticket: RawRepresentable, Hashable, Sendable {
    /// The number, unique within its connection.
    public let rawValue: UInt64
    /// Creates a ticket from its number.
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension Ticket {
    /// The `position`-th entry of a ``CumulativeConnection``, from 1.
    @inlinable public static func position(_ position: UInt64) -> Ticket { Ticket(rawValue: position) }
}

/// Entries for a connection to send, each with the ticket for its answer.
public struct HandOut: Sendable {
    /// The entries, in the order in which to send them.
    public let entries: EntryBatch
    /// The tickets, one for each entry, in the order of the entries.
    public let tickets: [Ticket]

    /// Creates a hand-out. There must be one ticket for each entry.
    public init(entries: EntryBatch, tickets: [Ticket]) {
        precondition(entries.count == tickets.count)
        self.entries = entries
        self.tickets = tickets
    }
}

/// An event on a connection. Answers come in batches: one event for each turn of the event loop. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConnectorEvent: Sendable {
    /// The service took these notifications.
    case confirmed([Ticket])
    /// Other answers, and calls that were given up.
    case results([(ticket: Ticket, result: SendResult)])
    /// Cumulative connections only: everything up to this position has left this machine's send queue.
    case sent(through: Ticket)
    /// Cumulative connections only: the service refused a notification. ``ended(_:)`` follows.
    case payloadError(PayloadError)
    /// Cumulative connections only: the service took everything up to this position. ``ended(_:)`` follows.
    case barrierAnswered(through: Ticket)
    /// Cumulative connections only: everything that the peer had sent when ``CumulativeConnection/listen(stamp:)`` was
    /// called has been reported.
    case listened(stamp: UInt64)
    /// The connection's ``Connection/capacity`` is this from now on.
    case capacityChanged(Int)
    /// The connection takes no more entries. It still answers those that it has, and ``ended(_:)`` follows. (The engine sends
    /// a barrier on a ``CumulativeConnection`` with unconfirmed entries, and closes one without.)
    case draining
    /// A message of the service about the connection as a whole, such as a GOAWAY with a reason. It has the effect of such an
    /// answer on lanes, and none on entries.
    case told(SendResult)
    /// The connection has ended, which answers every ticket without an answer.
    case ended(ConnectionEnd)
}

/// How a connection ended.
public struct ConnectionEnd: Sendable {
    /// The unanswered tickets that may have been sent, and become *unknown*. All other unanswered tickets were provably never
    /// sent, including those handed out after the end. `nil` if the connector can't tell: then all of them are unknown.
    public var possiblySent: [Ticket]?
    /// Cumulative connections only, in place of ``possiblySent``: everything after this position was provably never sent.
    /// `nil` if the connector can't tell.
    public var possiblySentThrough: Ticket?
    /// Why the connection ended, for operators; `nil` for an orderly end that was requested.
    public var cause: String?

    /// The end of a connection whose notifications are answered one by one.
    public init(possiblySent: [Ticket]?, cause: String?) {
        self.possiblySent = possiblySent
        possiblySentThrough = nil
        self.cause = cause
    }

    /// The end of a cumulative connection.
    public init(possiblySentThrough: Ticket?, cause: String?) {
        possiblySent = nil
        self.possiblySentThrough = possiblySentThrough
        self.cause = cause
    }
}

/// The receiver of a connection's events.
public struct ConnectionSink: Sendable {
    let receive: @Sendable (ConnectorEvent) -> Void

    /// Creates a sink that passes each event to `receive`, on the thread of the caller.
    public init(_ receive: @escaping @Sendable (ConnectorEvent) -> Void) { self.receive = receive }

    /// Reports an event. Callable from any thread; events of one connection must come one after the other.
    public func callAsFunction(_ event: ConnectorEvent) { receive(event) }
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

    /// Creates an error with a message for operators, which must hold no secret.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The ``message``.
    public var description: String { message }
}

/// The sizes, recipients and topics that a push service takes.
public struct NotificationLimits: Hashable, Sendable {
    /// The most bytes of a payload.
    public var payload: Int
    /// The most bytes of a payload with push type `voip`.
    public var voipPayload: Int
    /// The most bytes of a broadcast's payload; `nil` if broadcasts are refused.
    public var broadcastPayload: Int?
    /// The length of a device token in bytes.
    public var tokens: ClosedRange<Int>
    /// The most bytes of a collapse id, in UTF-8.
    public var collapseID: Int
    /// The topics that the connector's credentials are valid for; `nil` if unknown.
    public var topics: Set<String>?
    /// The addresses and payloads of a service other than Apple's; `nil` for Apple's.
    public private(set) var service: ServiceLimits?

    /// Creates limits of a service that takes device tokens, and broadcasts where `broadcastPayload` is given. All sizes in
    /// bytes.
    public init(
        payload: Int, voipPayload: Int, broadcastPayload: Int? = nil, tokens: ClosedRange<Int>, collapseID: Int,
        topics: Set<String>? = nil
    ) {
        self.payload = payload
        self.voipPayload = voipPayload
        self.broadcastPayload = broadcastPayload
        self.tokens = tokens
        self.collapseID = collapseID
        self.topics = topics
    }

    /// Apple's limits for HTTP/2, with broadcasts.
    public static let http2 = NotificationLimits(
        payload: 4096, voipPayload: 5120, broadcastPayload: 5120, tokens: 1...100, collapseID: 64)

    /// Apple's limits for HTTP/2 without broadcasts, for a sender that knows tokens only.
    public static let devices = {
        var limits = http2
        limits.broadcastPayload = nil
        return limits
    }()

    /// Limits of a service other than Apple's. It takes neither device tokens nor channels.
    ///
    /// - Parameters:
    ///   - payload: the most bytes of a payload, at most ``PackedNotification/maximumPayloadByteCount``.
    ///   - collapseID: the most bytes of a collapse id in UTF-8, at most
    ///     ``PackedNotification/maximumCollapseIDByteCount``; 0 for a service without.
    public static func service(
        _ service: ServiceLimits, payload: Int, collapseID: Int, topics: Set<String>? = nil
    ) -> NotificationLimits {
        var limits = NotificationLimits(
            payload: payload, voipPayload: payload, tokens: 1...DeviceToken.maximumByteCount, collapseID: collapseID,
            topics: topics)
        limits.service = service
        return limits
    }

    /// Whether the service takes recipients of the entry's kind.
    func takes(_ fields: PackedNotification.Fields) -> Bool {
        guard let service else { return fields.service == nil }
        return fields.service.map(service.kinds.contains) ?? false
    }

    /// The most bytes of this notification's payload.
    func payloadByteCount(of notification: PushNotification) -> Int {
        if notification.isBroadcast, let broadcastPayload { return broadcastPayload }
        return notification.pushType == .voip ? voipPayload : payload
    }
}
