/// Puts any existing sender under Holdfast's care: all it takes is a closure that sends one notification.
///
///     let connector = SenderConnector { notification in
///         let answer = try await mySender.send(notification.payload, to: notification.recipient.text)
///         return SendResult(apnsStatus: answer.status, reason: answer.reason)
///     }
///
/// An error that the closure throws means *unknown*, since it may have come after the notification was written: by its
/// guarantee the notification is sent again or not. Throw ``SendFailure/notSent(_:)`` if it was provably not sent.
///
/// The closure should honour cancellation: past the deadline it is cancelled, and what it returns after that counts for
/// nothing.
///
/// A sender that is told of errors only, as one for the binary APNs protocol is, has
/// ``init(confirmation:payloadErrors:deadline:limits:name:barrier:send:)``.
public struct SenderConnector: Connector {
    /// Sends one notification and returns the service's answer. A thrown error means *unknown*, unless it is ``SendFailure``.
    public typealias Send = @Sendable (PushNotification) async throws -> SendResult
    /// Writes one notification. Report its refusal with this position: make the binary protocol's identifier of it, or map the
    /// identifier to it.
    public typealias Write = @Sendable (_ notification: PushNotification, _ position: UInt64) async throws -> Void
    /// Writes a notification that the service is certain to refuse, such as one without a token. The position has the same
    /// meaning as in ``Write``.
    public typealias WriteBarrier = @Sendable (_ position: UInt64) async throws -> Void

    enum Way: Sendable {
        case answered(concurrency: Int, Send)
        case cumulative(PayloadErrors, WriteBarrier?, Write)
    }

    /// ``ConfirmationMode/perNotification``, or the mode it was made with.
    public let confirmationMode: ConfirmationMode
    /// The limits that `submit` applies, as given at creation.
    public let limits: NotificationLimits
    /// The name given at creation, for status and logs.
    public let endpoint: String
    let deadline: Duration
    let way: Way

    /// - Parameters:
    ///   - deadline: the most one call may take; then its outcome is unknown. Default: 30 s.
    ///   - concurrency: the most calls at a time, those included that did not return by their deadline; at least 1.
    ///     Default: 100.
    ///   - limits: what `submit` refuses. Default: Apple's for HTTP/2, and every broadcast: a sender that can send those
    ///     says so with ``NotificationLimits/http2``.
    ///   - name: what status and logs call it.
    public init(
        deadline: Duration = .seconds(30), concurrency: Int = 100, limits: NotificationLimits = .devices,
        name: String = "the application's own sender", send: @escaping Send
    ) {
        confirmationMode = .perNotification
        self.deadline = deadline
        self.limits = limits
        self.endpoint = name
        way = .answered(concurrency: max(concurrency, 1), send)
    }

    /// Creates a connector for a sender that is told of errors only. Calls are made one after the other, in the order on the
    /// wire.
    ///
    /// - Parameters:
    ///   - confirmation: ``ConfirmationMode/cumulative(quietPeriod:)``. Silence for the period after the call has returned
    ///     counts as success; it must be as long as the service takes to answer, and 5 s is common. Without a period only
    ///     errors and barriers confirm, so there must be a `barrier`.
    ///   - payloadErrors: the application reports refusals there. One for each connector.
    ///   - deadline: the timeout of one call, after which the connection counts as ended. Default: 30 s.
    ///   - send: returns when the notification is written. It may connect, and must connect anew after an error. Positions
    ///     are never reused, so a late error is not taken for one of the next connection. A thrown error ends the connection,
    ///     and this notification and all unconfirmed ones before it become *unknown*; ``SendFailure/notSent(_:)`` says that
    ///     this one was not sent.
    ///   - barrier: writes, after everything before, a notification that is malformed on purpose. The service's refusal of it,
    ///     reported with ``PayloadErrors/barrierRefused(_:)``, proves that everything before it was taken. The engine asks for
    ///     one at shutdown, from half a window on, and before it gives up a connection. It is the last call for a connection.
    ///     Default: none, so that only silence confirms.
    public init(
        confirmation: ConfirmationMode, payloadErrors: PayloadErrors, deadline: Duration = .seconds(30),
        limits: NotificationLimits = .devices, name: String = "the application's own sender",
        barrier: WriteBarrier? = nil, send: @escaping Write
    ) {
        guard case .cumulative(let quietPeriod) = confirmation, quietPeriod != nil || barrier != nil else {
            preconditionFailure(
                "a sender that reports errors only needs .cumulative(quietPeriod:), with a period or with a barrier: "
                    + "nothing else could confirm")
        }
        confirmationMode = confirmation
        self.deadline = deadline
        self.limits = limits
        self.endpoint = name
        way = .cumulative(payloadErrors, barrier, send)
    }

    /// Makes a connection that calls the closure. Never throws: the closure connects by itself.
    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        switch way {
        case .answered(let concurrency, let send):
            SenderConnection(concurrency: concurrency, deadline: deadline, send: send, sink: sink)
        case .cumulative(let errors, let barrier, let send):
            CumulativeSenderConnection(errors: errors, deadline: deadline, barrier: barrier, send: send, sink: sink)
        }
    }
}

/// An error for a sender's closure to throw, which says more than "unknown". More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SendFailure: Error, Sendable, CustomStringConvertible {
    /// The notification was provably never sent: it is sent again, and no attempt is counted.
    case notSent(_ why: String)

    /// A message for operators, with the sender's own words.
    public var description: String {
        switch self {
        case .notSent(let why): "not sent: \(why)"
        }
    }
}

/// The receiver of errors from a sender that is told of errors only.
///
/// Report an error as soon as it is read, and before reading on, so that silence confirms nothing that it refuses.
public final class PayloadErrors: Sendable {
    private struct State: Sendable {
        weak var connection: CumulativeSenderConnection?
        /// The greatest position that was ever given to a call.
        var greatest: UInt64 = 0
        /// The connection's positions are those above.
        var base: UInt64 = 0
        /// The calls of the last connection that made any.
        var calls: Task<Void, Never>?
    }

    private let state = Monitor(State())

    /// Creates the reporter for one connector.
    public init() {}

    /// Reports that the service refused the notification at this position, discarded everything after it, and ended the
    /// connection.
    ///
    /// - Parameter result: the meaning of the status: ``SendResult/Verdict/rejected(_:)`` with the fault, or
    ///   ``SendResult/Verdict/deferred(_:)`` if a retry can help.
    public func refused(_ position: UInt64, _ result: SendResult) {
        report(position, .refused(result), "a payload error")
    }

    /// Reports that the service shuts down, and has taken everything up to and including this position (status 10).
    public func lastGood(_ position: UInt64) {
        report(position, .lastGood, "the service shuts down")
    }

    /// Reports that the service refused the barrier at this position, for its intended mistake (in the binary protocol possibly
    /// with identifier 0). Everything before it was taken, and the connection has ended.
    ///
    /// Any other answer to a barrier proves nothing: report it with ``connectionEnded(_:)``.
    public func barrierRefused(_ position: UInt64) {
        let (connection, base) = state.withLock { ($0.connection, $0.base) }
        guard position > base else { return }
        connection?.barrierRefused(at: position - base)
    }

    /// Reports that the connection closed without an error response: unconfirmed notifications become *unknown*.
    public func connectionEnded(_ cause: String) { current?.end(cause: cause) }

    private func report(_ position: UInt64, _ kind: PayloadError.Kind, _ cause: String) {
        let (connection, base) = state.withLock { ($0.connection, $0.base) }
        // Below, it is about a connection that is over: what was unconfirmed on it has been given back.
        guard position > base else { return }
        connection?.end(with: PayloadError(position: .position(position - base), kind: kind), cause: cause)
    }

    private var current: CumulativeSenderConnection? { state.withLock { $0.connection } }

    /// - Returns: what the connection's positions are counted from, for the application.
    func attach(_ connection: CumulativeSenderConnection) -> UInt64 {
        state.withLock { state in
            state.connection = connection
            state.base = state.greatest
            return state.base
        }
    }

    /// This position is given to a call.
    func issued(_ position: UInt64) { state.withLock { $0.greatest = max($0.greatest, position) } }

    /// The last run of calls, which may not have returned yet.
    var lastCalls: Task<Void, Never>? { state.withLock(\.calls) }

    /// A connection begins with its calls.
    func begin(_ calls: Task<Void, Never>) { state.withLock { $0.calls = calls } }
}
