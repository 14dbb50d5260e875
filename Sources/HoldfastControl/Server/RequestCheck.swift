internal import HTTPTypes

/// A request that is refused before anybody looks at its body.
struct RequestRefusal: Error {
    var status: HTTPResponse.Status
    var error: ControlError
    /// With `methodNotAllowed`: the methods that are, as `Allow` lists them.
    var allowed: String?

    init(_ status: HTTPResponse.Status, _ code: ControlError.Code, _ message: String, allowed: String? = nil) {
        self.status = status
        error = ControlError(code, message)
        self.allowed = allowed
    }
}

/// Judges the heads of requests. No browser reaches a socket in the file system by itself; what forwards to it may be led by
/// one, so that everything that a page can cause is refused.
enum RequestCheck {
    private static let hosts = ["holdfast", "localhost"]
    private static let json = "application/json"

    /// What a request is about.
    enum Target: Equatable {
        case resource(Resource)
        /// Beyond those, asked with POST: whoever serves the socket may know it.
        case further(String)
    }

    /// - Parameter isFurther: whether a path may be one that is known beyond the resources.
    static func target(
        of head: HTTPRequest, isFurther: (String) -> Bool = { _ in false }
    ) throws(RequestRefusal) -> Target {
        guard head.headerFields[.origin] == nil else {
            throw RequestRefusal(
                .forbidden, .permissionDenied,
                "the request has the header Origin, so it may come from a page in a browser, which must not operate a "
                    + "journal: send it without Origin")
        }
        guard let host = head.authority else {
            throw RequestRefusal(
                .badRequest, .malformed, "the request has no header Host, or more than one: send `Host: holdfast`, once"
            )
        }
        guard hosts.contains(name(of: host)) else {
            throw RequestRefusal(
                .misdirectedRequest, .permissionDenied,
                "the request is for the host \(quoted(host)), and only holdfast and localhost are served here: send "
                    + "`Host: holdfast`, as for http://holdfast/v1/status")
        }
        let path = String((head.path ?? "").prefix { $0 != "?" })
        let resource = Resource(rawValue: path)
        guard resource != nil || isFurther(path) else { throw unknown(path) }
        let isRead = resource?.isRead ?? false
        let isAllowed = isRead ? head.method == .get || head.method == .head : head.method == .post
        guard isAllowed else {
            let method = isRead ? "GET" : "POST"
            throw RequestRefusal(
                .methodNotAllowed, .unknownRequest,
                "\(path) was asked for with \(quoted(head.method.rawValue)), and takes \(method) only: send it with \(method)",
                allowed: isRead ? "GET, HEAD" : "POST")
        }
        if !isRead { try checkContent(head.headerFields) }
        return resource.map(Target.resource) ?? .further(path)
    }

    private static func unknown(_ path: String) -> RequestRefusal {
        RequestRefusal(
            .notFound, .unknownRequest,
            "the process that owns the journal knows no resource \(quoted(path)): see that its path is right, and that "
                + "this process is not older than what asks it; GET /v1 says which version it speaks")
    }

    /// Behind the `?` of the path; empty without one.
    static func query(of head: HTTPRequest) -> Substring { (head.path ?? "").drop { $0 != "?" }.dropFirst() }

    private static func checkContent(_ fields: HTTPFields) throws(RequestRefusal) {
        let type = fields[.contentType] ?? ""
        let parts = type.lowercased().split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.filter { $0 != " " && $0 != "\t" } }
        guard parts.first == json, parts.count == 1 || parts.dropFirst() == ["charset=utf-8"] else {
            throw RequestRefusal(
                .unsupportedMediaType, .malformed,
                "the request's body is "
                    + (type.isEmpty ? "of no type that it says" : "of type \(quoted(type))")
                    + ", and must be JSON: send it with `Content-Type: \(json)`")
        }
        guard fields[.contentEncoding] == nil else {
            throw RequestRefusal(
                .unsupportedMediaType, .malformed,
                "the request's body is encoded, as Content-Encoding says: send it as it is, without that header")
        }
    }

    /// Of a client's words so many as tell which are meant.
    private static func quoted(_ text: String) -> String { text.prefix(200).debugDescription }

    private static func name(of authority: String) -> String {
        var name = Substring(authority)
        if let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy(\.isNumber) {
            name = name[..<colon]
        }
        return name.lowercased()
    }
}
