internal import HTTPTypes

/// A request that is refused before anybody looks at its body.
struct RequestRefusal: Error {
    var status: HTTPResponse.Status
    var error: ControlError
    /// With `methodNotAllowed`: the method that is.
    var allowed: HTTPRequest.Method?
}

/// Judges the heads of requests. No browser reaches a socket in the file system by itself; what forwards to it may be led by
/// one, so that everything that a page can cause is refused.
enum RequestCheck {
    private static let hosts = ["holdfast", "localhost"]
    private static let json = "application/json"

    static func resource(of head: HTTPRequest) throws(RequestRefusal) -> Resource {
        guard head.headerFields[.origin] == nil else {
            throw RequestRefusal(
                status: .forbidden,
                error: ControlError(.permissionDenied, "this is for no page of a browser: send no Origin"))
        }
        guard let host = head.authority, hosts.contains(name(of: host)) else {
            throw RequestRefusal(
                status: .misdirectedRequest,
                error: ControlError(
                    .permissionDenied, "ask for the host holdfast, or localhost: http://holdfast/v1/status"))
        }
        let path = String((head.path ?? "").prefix { $0 != "?" })
        guard let resource = Resource(rawValue: path) else {
            throw RequestRefusal(
                status: .notFound,
                error: ControlError(
                    .unknownRequest,
                    "the process that owns the journal does not know the request \(path.prefix(200).debugDescription)"))
        }
        let method: HTTPRequest.Method = resource.isRead ? .get : .post
        guard head.method == method else {
            throw RequestRefusal(
                status: .methodNotAllowed, error: ControlError(.unknownRequest, "\(path) is for \(method)"),
                allowed: method)
        }
        if !resource.isRead { try checkContent(head.headerFields) }
        return resource
    }

    private static func checkContent(_ fields: HTTPFields) throws(RequestRefusal) {
        let type = fields[.contentType] ?? ""
        let parts = type.lowercased().split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.filter { $0 != " " && $0 != "\t" } }
        let isJSON = parts.first == json && (parts.count == 1 || parts.dropFirst() == ["charset=utf-8"])
        guard isJSON, fields[.contentEncoding] == nil else {
            throw RequestRefusal(
                status: .unsupportedMediaType,
                error: ControlError(.malformed, "a body is JSON: send it as Content-Type: \(json)"))
        }
    }

    private static func name(of authority: String) -> String {
        var name = Substring(authority)
        if let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy(\.isNumber) {
            name = name[..<colon]
        }
        return name.lowercased()
    }
}
