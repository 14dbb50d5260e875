package import Holdfast

/// A request as it is on the wire, beside what every request has.
package struct PostRequest: Hashable, Sendable {
    package var headers: [String: String]
    package var contentType: String
    package var body: [UInt8]

    package init(headers: [String: String] = [:], contentType: String = "application/json", body: [UInt8]) {
        (self.headers, self.contentType, self.body) = (headers, contentType, body)
    }
}

/// A result with the answer's body.
package struct PostAnswer: Sendable {
    package var result: PostResult
    /// As many bytes as were asked for; empty without an answer.
    package var body: [UInt8]
    /// Why there is no connection; nil where there is one.
    package var connectError: ConnectError?

    init(_ result: PostResult, body: [UInt8] = [], connectError: ConnectError? = nil) {
        (self.result, self.body, self.connectError) = (result, body, connectError)
    }
}

/// Posts requests to one receiver, one at a time.
package protocol Posting: Sendable {
    /// Posts, and reads the answer. Cancelled, it ends at once.
    func post(_ request: PostRequest, within limit: Duration) async -> PostResult

    /// Closes the connection, if one is kept.
    func close() async
}
