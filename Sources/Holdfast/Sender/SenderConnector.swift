/// Puts any existing sender under Holdfast's care: all it takes is a closure that sends one notification.
///
///     let connector = SenderConnector { notification in
///         let answer = try await mySender.send(notification.payload, to: notification.token.hex)
///         return SendResult(apnsStatus: answer.status, reason: answer.reason)
///     }
///
/// An error that the closure throws means *unknown*, since it may have come after the notification was written: by its
/// guarantee the notification goes again or not. Throw ``SendFailure/notSent(_:)`` where it was provably not sent.
///
/// The closure should honour cancellation: past the deadline it is cancelled, and what it returns after that counts for
/// nothing.
public struct SenderConnector: Connector {
    public typealias Send = @Sendable (PushNotification) async throws -> SendResult

    public let confirmationMode = ConfirmationMode.perNotification
    public let limits: NotificationLimits
    public let endpoint: String
    let deadline: Duration
    let concurrency: Int
    let send: Send

    /// - Parameters:
    ///   - deadline: the most one call may take; then its outcome is unknown. Default: 30 s.
    ///   - concurrency: the most calls at a time, those included that did not return by their deadline; at least 1.
    ///     Default: 100.
    ///   - limits: what `submit` refuses. Default: Apple's for HTTP/2.
    ///   - name: what status and logs call it.
    public init(
        deadline: Duration = .seconds(30), concurrency: Int = 100, limits: NotificationLimits = .http2,
        name: String = "the application's own sender", send: @escaping Send
    ) {
        self.deadline = deadline
        self.concurrency = max(concurrency, 1)
        self.limits = limits
        self.endpoint = name
        self.send = send
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        SenderConnection(self, sink: sink)
    }
}

/// What a sender throws to say more than "unknown".
public enum SendFailure: Error, Sendable, CustomStringConvertible {
    /// Provably never sent: it goes again, and no attempt is counted.
    case notSent(_ why: String)

    public var description: String {
        switch self {
        case .notSent(let why): "not sent: \(why)"
        }
    }
}
