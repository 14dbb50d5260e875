/// A request in the form that a ``MockBehavior`` or an observer gets.
public struct MockRequest: Sendable {
    /// All header fields as received, pseudo-headers first.
    public let headers: [(name: String, value: String)]
    /// The payload, or the body of a request about channels.
    public let body: [UInt8]
    /// The number of its connection, counted from 1 over the server's life.
    public let connection: Int
    /// Its number on the connection, counted from 1.
    public let number: Int
    /// The address that the client connected to.
    public let address: MockAddress

    /// The value of the first field with this (lower-case) name; nil without one.
    public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The method; empty without one.
    public var method: String { self[":method"] ?? "" }
    /// The path; empty without one.
    public var path: String { self[":path"] ?? "" }

    /// The part of the path behind `/3/device/`, in lower case; nil for another path.
    public var token: String? {
        let path = path
        guard path.hasPrefix(RequestFields.pathPrefix) else { return nil }
        return path.dropFirst(RequestFields.pathPrefix.count).lowercased()
    }

    /// The `apns-topic`, or the bundle id in the path; nil without one.
    public var topic: String? {
        RequestTarget(path: path, isManagement: address.isManagement).bundleID ?? self["apns-topic"]
    }

    /// The `apns-channel-id` of a broadcast or of a request about a channel; nil without one.
    public var channel: String? { self["apns-channel-id"] }
}

/// A request and its answer.
public struct MockExchange: Sendable {
    /// The request as it came.
    public let request: MockRequest
    /// The status of the answer; nil for a reset and for silence.
    public let status: Int?
    /// The reason of a refusal; nil with status 200.
    public let reason: String?
    /// Whether the mock accepted the notification, and the ledger has it.
    public let isAccepted: Bool
    /// The `apns-id` or `apns-request-id` of the answer: the request's, or one that the server assigned.
    public let id: String
    /// The `apns-unique-id` of the answer; nil outside the sandbox, see ``MockAPNsConfiguration/isSandbox``.
    public let uniqueID: String?
}
