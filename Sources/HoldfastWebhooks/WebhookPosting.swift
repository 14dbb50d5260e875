internal import Holdfast

/// A request as it is on the wire, beside what every request has.
package struct WebhookRequest: Hashable, Sendable {
    package var headers: [String: String]
    package var body: [UInt8]

    package init(headers: [String: String], body: [UInt8]) { (self.headers, self.body) = (headers, body) }
}

/// Posts requests of one webhook, one at a time.
package protocol WebhookPosting: Sendable {
    /// Posts, and reads the answer. Cancelled, it ends at once.
    func post(_ request: WebhookRequest, within limit: Duration) async -> PostResult

    /// Closes the connection, if one is kept.
    func close() async
}
