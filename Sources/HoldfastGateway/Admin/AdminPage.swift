internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A page of the admin server beside its own. It answers GET, or POST.
package struct AdminPage: Sendable {
    /// How a page is asked.
    package enum Method: Sendable {
        /// Also HEAD.
        case get
        /// With a body of at most ``AdminPage/greatestBody`` bytes.
        case post
    }

    /// The most bytes of a request's body; a longer one is answered 413.
    package static let greatestBody = 64 << 10

    /// The parts of a request that a page may know.
    package struct Request: Sendable {
        /// Behind the `?` of the path, as it came; empty without one.
        package var query: String
        /// The fields `Authorization`.
        package var authorization: [String]
        /// The fields by their names in lower case. Of several of one name the last.
        package var fields: [String: String]
        /// The name that the client asked for, with a port if it gave one.
        package var authority: String?
        /// The client's IP address; nil where it is not known.
        package var client: String?
        package var body: [UInt8]

        package init(
            query: String = "", authorization: [String] = [], fields: [String: String] = [:], authority: String? = nil,
            client: String? = nil, body: [UInt8] = []
        ) {
            (self.query, self.authorization, self.fields) = (query, authorization, fields)
            (self.authority, self.client, self.body) = (authority, client, body)
        }
    }

    /// A whole answer, or one that goes on.
    package struct Answer: Sendable {
        /// The next part of a body; nil behind the last.
        package typealias Next = @Sendable () async throws -> [UInt8]?

        package var status: Int
        package var type: String
        package var body: [UInt8]
        /// Beside the type and the length.
        package var fields: [String: String]
        /// In place of ``body``.
        var stream: BodyStream?

        package init(_ status: Int, type: String, _ body: [UInt8], fields: [String: String] = [:]) {
            (self.status, self.type, self.body, self.fields) = (status, type, body, fields)
        }

        /// A status of 200 and a body that is written as it comes, beyond ``AdminConfiguration/request``.
        ///
        /// - Parameters:
        ///   - ended: called once, when nothing is written any more, or was ever.
        ///   - next: asked for a part when the client has room for it. An error cuts the connection.
        package init(streaming type: String, ended: @escaping @Sendable () -> Void, _ next: @escaping Next) {
            self.init(200, type: type, [])
            stream = BodyStream(ended: ended, next: next)
        }
    }

    /// The path without a slash at its beginning: `outcomes`. Empty for the root.
    package let path: String
    package let method: Method
    /// Must end within ``AdminConfiguration/request``. Its task is cancelled when the client closes its side.
    package let answer: @Sendable (Request) async -> Answer

    package init(_ path: String, _ method: Method = .get, answer: @escaping @Sendable (Request) async -> Answer) {
        (self.path, self.method, self.answer) = (path, method, answer)
    }
}

extension AdminPage.Request {
    init(_ request: HTTPRequest, client: String?, body: [UInt8]) {
        (self.client, self.body) = (client, body)
        authority = request.authority
        let path = request.path ?? ""
        query = path.firstIndex(of: "?").map { String(path[path.index(after: $0)...]) } ?? ""
        authorization = request.headerFields[values: .authorization]
        fields = [:]
        for field in request.headerFields { fields[field.name.canonicalName] = field.value }
    }
}

extension AdminPage.Answer {
    /// - Parameter channel: the client's.
    func response(to channel: any Channel) -> Response {
        var headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: stream?.body(to: channel) ?? .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
