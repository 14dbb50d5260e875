/// A request as a ``MockBehavior`` or an observer sees it.
public struct MockRequest: Sendable {
    /// All header fields as received, pseudo-headers first.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]
    /// Which connection it came on, counted from 1 over the server's life.
    public let connection: Int
    /// Which request on its connection it is, counted from 1.
    public let number: Int
    /// What the client connected to.
    public let address: MockAddress

    /// The value of the first field of this (lower-case) name.
    public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    public var method: String { self[":method"] ?? "" }
    public var path: String { self[":path"] ?? "" }

    /// What stands in the path after `/3/device/`, in lower case; nil when the path is another.
    public var token: String? {
        let path = path
        guard path.hasPrefix(RequestFields.pathPrefix) else { return nil }
        return path.dropFirst(RequestFields.pathPrefix.count).lowercased()
    }

    /// The `apns-topic`, or the bundle id in the path.
    public var topic: String? {
        RequestTarget(path: path, isManagement: address.isManagement).bundleID ?? self["apns-topic"]
    }

    /// The `apns-channel-id` of a broadcast, or of what is done about a channel.
    public var channel: String? { self["apns-channel-id"] }
}

/// A request and what it was answered.
public struct MockExchange: Sendable {
    public let request: MockRequest
    /// nil where the answer is not one of HTTP: a reset, or silence.
    public let status: Int?
    /// nil with status 200.
    public let reason: String?
    /// Whether the service took the notification, and the ledger has it.
    public let isAccepted: Bool
    /// The `apns-id` of the answer, or the `apns-request-id`: the request's, or one that the server assigned.
    public let id: String
    /// The `apns-unique-id` of the answer, see ``MockAPNsConfiguration/isSandbox``.
    public let uniqueID: String?
}
