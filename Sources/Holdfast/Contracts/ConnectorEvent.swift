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
