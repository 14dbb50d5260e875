/// Owns the wire to one push service with one set of credentials.
///
/// A connector never sees the journal. It is handed entries, each with a ``Ticket``, and answers for every ticket exactly
/// once through its connection's ``ConnectionSink``: with a result, or with the connection's end, which answers for all
/// that are left.
public protocol Connector: Sendable {
    var confirmationMode: ConfirmationMode { get }

    /// What `submit` refuses for this connector. Asked for anew with each submission: it may change with the credentials.
    var limits: NotificationLimits { get }

    /// Where it sends, for people: `https://api.push.apple.com:443`.
    var endpoint: String { get }

    /// Names the push service that answers: equal for two connectors whose service judges tokens alike, whatever the address
    /// or proxy, and another one for another environment. What the blacklist learns holds for this service alone, so it is
    /// kept on disk and must not change with the process. By default the ``endpoint``.
    var serviceIdentity: String { get }

    /// The engine serves the connector from now on, and soon connects. Before the first ``connect(_:)``, once for each route
    /// of an engine. By default nothing is done with it.
    func begin(_ host: ConnectorHost)

    /// Reads again what the connector was made of and may have changed: files of keys and certificates. What is good is used
    /// from then on, without anything being lost, and ``ConnectorHost/credentialsChanged()`` is told also when it is as
    /// before: somebody has mended something. By default nothing is done.
    ///
    /// - Throws: what is wrong, in words for operators; then what was in use stays in use.
    func reload() async throws

    /// Connects, up to the point at which entries may be sent.
    ///
    /// - Parameter sink: takes what happens on the connection, from any thread, in batches.
    /// - Throws: ``ConnectError``; the engine tries again with backoff, or stops the lanes when it says so.
    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection
}

extension Connector {
    public var serviceIdentity: String { endpoint }

    public func begin(_ host: ConnectorHost) {}

    public func reload() async throws {}
}

/// One connection of a ``Connector``.
public protocol Connection: AnyObject, Sendable {
    /// The most entries that may be with the connection and not answered, at the moment; at least 1. Where only errors
    /// are answered: the most that were handed over and not yet reported as ``ConnectorEvent/sent(through:)``. A change
    /// is reported as ``ConnectorEvent/capacityChanged``.
    var capacity: Int { get }

    /// How many of them the service works on at a time, at the moment; the rest of ``capacity`` waits in the connection for
    /// an answer to make room. The engine fills the streams of all connections of a route before anything waits in one. A
    /// change is reported as ``ConnectorEvent/capacityChanged``. By default ``capacity``: nothing waits.
    var streams: Int { get }

    /// Takes entries to send, in this order. Does not block. Every ticket is answered, also when the connection has
    /// already ended.
    func send(_ handOut: HandOut)

    /// Stops taking entries, gives what is in flight up to `deadline`, then ends. Ends with ``ConnectorEvent/ended``.
    func close(deadline: Duration)
}

extension Connection {
    public var streams: Int { capacity }
}

/// How a push service confirms.
public enum ConfirmationMode: Hashable, Sendable {
    /// Each notification gets its own answer. Silence means *unknown*, never success.
    case perNotification
    /// Only errors are answered (the binary APNs protocol): a ``PayloadError`` proves that everything before it was taken
    /// and everything after it was not. What stays quiet for the period counts as taken; with nil silence counts for
    /// nothing, and only errors and barriers prove anything. Connections are ``CumulativeConnection``s.
    case cumulative(quietPeriod: Duration?)
}

/// A connection on which only errors are answered.
///
/// Its tickets are positions: 1, 2, 3 … in the order of ``Connection/send(_:)``, which is the order on the wire. It never
/// reports ``ConnectorEvent/confirmed(_:)`` or ``ConnectorEvent/results(_:)``, but ``ConnectorEvent/sent(through:)``,
/// ``ConnectorEvent/payloadError(_:)``, ``ConnectorEvent/barrierAnswered(through:)`` and
/// ``ConnectorEvent/listened(stamp:)``; and ``ConnectorEvent/ended(_:)`` after a payload error, since the service closes.
public protocol CumulativeConnection: Connection {
    /// Reads everything that the peer has sent until now, reports what it says, and then ``ConnectorEvent/listened(stamp:)``
    /// with this stamp. Silence is judged only by what was heard afterwards.
    func listen(stamp: UInt64)

    /// Whether ``writeBarrier()`` can prove anything.
    var canWriteBarrier: Bool { get }

    /// Writes, behind everything it was given, a notification that is malformed on purpose: its error response proves that
    /// everything before it was taken (``ConnectorEvent/barrierAnswered(through:)``). It costs the connection; nothing may
    /// be sent on it any more.
    func writeBarrier()
}

/// The service has refused one notification of a ``CumulativeConnection`` and discarded everything after it.
public struct PayloadError: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The notification at the position was refused; everything before it was taken.
        case refused(SendResult)
        /// Everything up to and including the position was taken (status 10 of the binary protocol).
        case lastGood
    }

    /// The position that the service names. One below what is unconfirmed, or one that was never given out, is no mistake
    /// here: the engine draws what can be concluded.
    public let position: Ticket
    public let kind: Kind

    public init(position: Ticket, kind: Kind) {
        self.position = position
        self.kind = kind
    }
}

/// Names one hand-out of one entry on one connection; never used twice on it.
public struct Ticket: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension Ticket {
    /// The `position`-th entry of a ``CumulativeConnection``, from 1.
    @inlinable public static func position(_ position: UInt64) -> Ticket { Ticket(rawValue: position) }
}

/// Entries for a connection to send, item by item with the ticket to answer with.
public struct HandOut: Sendable {
    public let entries: EntryBatch
    /// As many as there are items, in their order.
    public let tickets: [Ticket]

    public init(entries: EntryBatch, tickets: [Ticket]) {
        precondition(entries.count == tickets.count)
        self.entries = entries
        self.tickets = tickets
    }
}

/// What happened on a connection. Always in batches: one event for what one turn of the event loop brought.
public enum ConnectorEvent: Sendable {
    /// Taken by the service.
    case confirmed([Ticket])
    /// Answered otherwise, or given up.
    case results([(ticket: Ticket, result: SendResult)])
    /// Cumulative connections only: everything up to here has left this machine's send queue.
    case sent(through: Ticket)
    /// Cumulative connections only. ``ended(_:)`` follows.
    case payloadError(PayloadError)
    /// Cumulative connections only: everything up to here was taken. ``ended(_:)`` follows.
    case barrierAnswered(through: Ticket)
    /// Cumulative connections only: everything that the peer had sent when ``CumulativeConnection/listen(stamp:)`` was
    /// called has been reported.
    case listened(stamp: UInt64)
    /// How many entries the connection takes from now on.
    case capacityChanged(Int)
    /// The connection takes nothing more; what it has is still answered, and ``ended(_:)`` follows. Others may be made.
    /// (A ``CumulativeConnection`` is given a barrier where something is unconfirmed, and is closed when nothing is.)
    case draining
    /// The service has said something of the connection as a whole (a GOAWAY with a reason, say). It is about no entry: what
    /// an answer of that kind would do to lanes is done, and nothing else.
    case told(SendResult)
    /// The connection is over, and with it every ticket that was not answered before.
    case ended(ConnectionEnd)
}

/// How a connection ended.
public struct ConnectionEnd: Sendable {
    /// The tickets that are not answered and may have been sent: *unknown*. Every other one that is not answered was
    /// provably never sent, those included that were on their way to the connection when it ended. Nil when the connector
    /// can't tell: then all that are not answered are unknown.
    public var possiblySent: [Ticket]?
    /// Cumulative connections only, instead of ``possiblySent``: everything behind this position was provably never sent.
    /// Nil when the connector can't tell.
    public var possiblySentThrough: Ticket?
    /// For people: why it ended. Nil for an orderly end that was asked for.
    public var cause: String?

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

/// Where a connection's events go.
public struct ConnectionSink: Sendable {
    let receive: @Sendable (ConnectorEvent) -> Void

    public init(_ receive: @escaping @Sendable (ConnectorEvent) -> Void) { self.receive = receive }

    public func callAsFunction(_ event: ConnectorEvent) { receive(event) }
}

/// Why no connection came about. Nothing was sent.
public struct ConnectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether trying again can help without anybody mending something.
    public enum Kind: Hashable, Sendable {
        /// Nobody listens, the network is away, the service refuses for now: tried again with backoff.
        case temporary
        /// An untrusted certificate, a wrong host name, a bad key: tried again too, but the operator must act.
        case configuration
    }

    public let kind: Kind
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}

/// What a push service takes.
public struct NotificationLimits: Hashable, Sendable {
    /// Bytes.
    public var payload: Int
    /// Bytes, for push type `voip`.
    public var voipPayload: Int
    /// Bytes, for broadcasts; nil where there are none.
    public var broadcastPayload: Int?
    /// Bytes.
    public var tokens: ClosedRange<Int>
    /// Bytes of UTF-8.
    public var collapseID: Int
    /// The topics that the connector's credentials are good for; nil where that can't be told.
    public var topics: Set<String>?
    /// Of a service that is not Apple's: what it takes. Nil for Apple's.
    public private(set) var service: ServiceLimits?

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

    /// Apple's for HTTP/2.
    public static let http2 = NotificationLimits(
        payload: 4096, voipPayload: 5120, broadcastPayload: 5120, tokens: 1...100, collapseID: 64)

    /// The same without broadcasts: what a sender takes that knows tokens only.
    public static let devices = {
        var limits = http2
        limits.broadcastPayload = nil
        return limits
    }()

    /// Limits of a service that is not Apple's. It takes neither device tokens nor channels.
    ///
    /// - Parameters:
    ///   - payload: bytes, of which a record holds ``PackedNotification/maximumPayloadByteCount`` at most.
    ///   - collapseID: bytes of UTF-8; 0 where it has none. A record holds
    ///     ``PackedNotification/maximumCollapseIDByteCount`` at most.
    public static func service(
        _ service: ServiceLimits, payload: Int, collapseID: Int, topics: Set<String>? = nil
    ) -> NotificationLimits {
        var limits = NotificationLimits(
            payload: payload, voipPayload: payload, tokens: 1...DeviceToken.maximumByteCount, collapseID: collapseID,
            topics: topics)
        limits.service = service
        return limits
    }

    /// Whether the service has recipients of the kind that an entry is for.
    func takes(_ fields: PackedNotification.Fields) -> Bool {
        guard let service else { return fields.service == nil }
        return fields.service.map(service.kinds.contains) ?? false
    }

    /// The most bytes that the payload of this one may have.
    func payloadByteCount(of notification: PushNotification) -> Int {
        if notification.isBroadcast, let broadcastPayload { return broadcastPayload }
        return notification.pushType == .voip ? voipPayload : payload
    }
}
