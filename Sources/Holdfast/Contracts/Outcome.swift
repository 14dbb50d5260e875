/// The end of one notification: how, when, and after how many attempts.
public struct Outcome: Hashable, Sendable {
    /// Its place in the order in which notifications ended.
    public let cursor: OutcomeCursor
    /// The notification's UID, as its receipt gave it.
    public let uid: UID
    /// How the notification ended.
    public let terminal: TerminalOutcome
    /// The details of a ``TerminalOutcome/rejected(_:)``. Of an ``TerminalOutcome/unknown`` one that was taken back while it was
    /// in flight, the reason ``Reason/withdrawn``. `nil` for any other outcome.
    public let cause: RejectionCause?
    /// When it was accepted, sent and ended, and how often it was tried.
    public let history: DeliveryHistory
    /// The `apns-id` of every attempt.
    public let id: NotificationID
    /// The recipient, as submitted.
    public let recipient: Recipient
    /// The topic, as submitted.
    public let topic: String
    /// The name of the Producer that submitted it.
    public let producer: String
    /// The application's tag, as submitted.
    public let tag: [UInt8]
    /// The application's own bytes, as submitted; at most 4096.
    public let context: [UInt8]
    /// The `apns-unique-id` of the last answer, which only Apple's development environment gives.
    public let uniqueID: String?
    /// The payload, if the log keeps payloads (``HistoryPolicy/keepsPayloads``); else empty.
    public let payload: [UInt8]

    /// Creates an outcome, for tests of code that takes outcomes.
    public init(
        cursor: OutcomeCursor = .start, uid: UID, terminal: TerminalOutcome, cause: RejectionCause? = nil,
        history: DeliveryHistory, id: NotificationID, recipient: Recipient, topic: String, producer: String = "default",
        tag: [UInt8] = [], context: [UInt8] = [], uniqueID: String? = nil, payload: [UInt8] = []
    ) {
        self.cursor = cursor
        self.uid = uid
        self.terminal = terminal
        self.cause = cause
        self.history = history
        self.id = id
        self.recipient = recipient
        self.topic = topic
        self.producer = producer
        self.tag = tag
        self.context = context
        self.uniqueID = uniqueID
        self.payload = payload
    }

    /// The device token; `nil` for a broadcast, and for services other than Apple's.
    public var token: DeviceToken? { recipient.token }

    /// When the outcome was decided, by this machine's wall clock.
    public var settledAt: WallTime { history.settledAt }
}

/// The times of one notification's delivery, by this machine's wall clock, and its attempts.
public struct DeliveryHistory: Hashable, Sendable {
    /// When it was accepted.
    public var acceptedAt: WallTime
    /// When the last attempt was handed to a connection, to about a millisecond; `nil` if none was, or if that is not known
    /// (after a crash, or on a connection on which only errors are answered).
    public var sentAt: WallTime?
    /// When the outcome was decided.
    public var settledAt: WallTime
    /// Attempts that count against ``RetrySchedule/greatestCount``, and the last one if it ended the notification. Those that
    /// the service's throttling or a connection's end sent back are not counted. 0 for a notification that was never sent.
    public var attempts: Int

    /// Creates a history.
    public init(acceptedAt: WallTime, sentAt: WallTime? = nil, settledAt: WallTime, attempts: Int) {
        self.acceptedAt = acceptedAt
        self.sentAt = sentAt
        self.settledAt = settledAt
        self.attempts = attempts
    }
}
