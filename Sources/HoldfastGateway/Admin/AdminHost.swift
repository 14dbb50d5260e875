internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Refuses requests that do not say plainly for whom they are, and those that a browser was led to. A page of a foreign name that
/// resolves to this machine (name rebinding) asks with that name, and could read the answer. A server that listens on this
/// machine alone has only local names.
///
/// Of a request of HTTP/1.0 without a name, `authority` is nil: probes send such ones, and browsers don't.
struct AdminHost<Context: RequestContext>: RouterMiddleware {
    /// Whether other machines may ask as well, by names of their own.
    let servesEverybody: Bool

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        // The first is the authority.
        let more = HTTPField.Name("host").map { request.headers[values: $0] } ?? []
        guard more.isEmpty, request.head.authority?.isEmpty != true else {
            return Self.refusal(.badRequest, "the request has no header Host, or more than one: send it once")
        }
        guard servesEverybody || Self.isOurs(request.head.authority) else {
            return Self.refusal(
                .misdirectedRequest, "this page is for this machine: ask for localhost, or for its address")
        }
        return try await next(request, context)
    }

    private static func refusal(_ status: HTTPResponse.Status, _ words: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: words + "\n")))
    }

    /// - Parameter authority: the request's, with or without a port; nil for HTTP/1.0 without one.
    static func isOurs(_ authority: String?) -> Bool {
        guard let authority else { return true }
        var host = Substring(authority)
        if host.hasPrefix("[") {
            let end = host.firstIndex(of: "]") ?? host.endIndex
            guard isPort(host[end...].dropFirst()) else { return false }
            host = host[..<end].dropFirst()
        } else if let colon = host.lastIndex(of: ":") {
            guard isPort(host[colon...]) else { return false }
            host = host[..<colon]
        }
        if host.lowercased() == "localhost" { return true }
        do {
            // No name leads a browser to an IP address that it was not given.
            _ = try SocketAddress(ipAddress: String(host), port: 0)
            return true
        } catch {
            return false
        }
    }

    /// Whether a text is nothing, or a colon and digits.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }
}
