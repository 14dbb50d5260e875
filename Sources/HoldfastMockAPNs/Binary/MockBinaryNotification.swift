/// A notification as a ``MockBinaryBehavior`` or an observer sees it.
public struct MockBinaryNotification: Sendable, Equatable {
    /// 0, 1 or 2.
    public let command: UInt8
    /// 0 where it came without one.
    public let identifier: UInt32
    /// Empty where it is missing, and where its announced length was enough to refuse it.
    public let token: [UInt8]
    /// Empty where it is missing, and where the notification was refused before it was read.
    public let payload: [UInt8]
    /// Unix seconds; nil where there is none.
    public let expiration: UInt32?
    /// 10 or 5; nil where there is none.
    public let priority: UInt8?
    /// Which connection it came on, counted from 1 over the server's life.
    public let connection: Int
    /// Which notification on its connection it is, counted from 1.
    public let number: Int
    /// What the server refuses it with if nothing else is said; nil for one that is in order.
    public let fault: MockBinaryStatus?

    /// Whether it has no token: malformed on purpose, perhaps, for the sake of the answer.
    public var isBarrier: Bool { fault == .missingToken }

    /// The payload's own `"id"`, a string or a number; nil where it has none.
    public var payloadID: String? {
        PayloadMark.id(in: payload.span).map { range in
            String(decoding: payload[range], as: UTF8.self)
        }
    }
}

/// A notification and what became of it.
public struct MockBinaryExchange: Sendable, Equatable {
    public let notification: MockBinaryNotification
    /// Whether the service took it, and the ledger has it.
    public let isTaken: Bool
    /// What the error response said; nil where there was none.
    public let status: MockBinaryStatus?
}
