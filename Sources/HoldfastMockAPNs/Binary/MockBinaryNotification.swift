import HoldfastMocking

/// A notification in the form that a ``MockBinaryBehavior`` or an observer gets.
public struct MockBinaryNotification: Sendable, Equatable {
    /// The command of its frame: 0, 1 or 2.
    public let command: UInt8
    /// The client's identifier; 0 where the frame has none.
    public let identifier: UInt32
    /// The token; empty where it is missing, or was refused for its announced length.
    public let token: [UInt8]
    /// The payload; empty where it is missing, or the notification was refused before it was read.
    public let payload: [UInt8]
    /// The expiration in Unix seconds; nil where it is missing.
    public let expiration: UInt32?
    /// The priority, 10 or 5; nil where it is missing.
    public let priority: UInt8?
    /// The number of its connection, counted from 1 over the server's life.
    public let connection: Int
    /// Its number on the connection, counted from 1.
    public let number: Int
    /// The status of the mock's own refusal; nil for a valid notification.
    public let fault: MockBinaryStatus?

    /// Whether it has no token: a client's barrier, which asks for an answer.
    public var isBarrier: Bool { fault == .missingToken }

    /// The payload's own `"id"`, a string or a number; nil where it has none.
    public var payloadID: String? {
        PayloadMark.id(in: payload.span).map { range in
            String(decoding: payload[range], as: UTF8.self)
        }
    }
}

/// A notification and its result.
public struct MockBinaryExchange: Sendable, Equatable {
    /// The notification as it came.
    public let notification: MockBinaryNotification
    /// Whether the mock took it, and the ledger has it.
    public let isTaken: Bool
    /// The status of the error response; nil where there was none.
    public let status: MockBinaryStatus?
}
