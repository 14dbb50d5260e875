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

    /// The addressee as the service reads it: the device token in lower case (APNs), or the target (FCM); nil without one.
    public var token: String? { subject.token }

    /// The `apns-topic`, or the bundle id in the path (APNs); the project in the path (FCM); nil without one.
    public var topic: String? { subject.topic }

    /// The `apns-channel-id` of a broadcast or of a request about a channel; nil without one.
    public var channel: String? { subject.channel }

    /// What the service reads in a request for a script to match.
    package struct Subject: Sendable {
        package var token: String?
        package var topic: String?
        package var channel: String?

        package init(token: String?, topic: String?, channel: String? = nil) {
            (self.token, self.topic, self.channel) = (token, topic, channel)
        }
    }

    private let subject: Subject

    package init(
        headers: [(name: String, value: String)], body: [UInt8], connection: Int, number: Int, address: MockAddress,
        subject: Subject
    ) {
        self.headers = headers
        self.body = body
        self.connection = connection
        self.number = number
        self.address = address
        self.subject = subject
    }
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
    /// The `apns-unique-id` of the answer; nil outside the sandbox of a mock of APNs.
    public let uniqueID: String?

    package init(
        request: MockRequest, status: Int?, reason: String?, isAccepted: Bool, id: String, uniqueID: String? = nil
    ) {
        self.request = request
        self.status = status
        self.reason = reason
        self.isAccepted = isAccepted
        self.id = id
        self.uniqueID = uniqueID
    }
}
