internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Refuses requests that a browser was led to. A page of a foreign name that resolves to this machine (name rebinding)
/// asks with that name, and could read the answer. A server that listens on this machine alone has only local names.
struct AdminHost<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard Self.isOurs(request.head.authority) else {
            return Response(
                status: .misdirectedRequest, headers: [.contentType: "text/plain; charset=utf-8"],
                body: .init(
                    byteBuffer: ByteBuffer(
                        string: "this page is for this machine: ask for localhost, or for its address\n")))
        }
        return try await next(request, context)
    }

    /// - Parameter authority: the request's, with or without a port; nil for HTTP/1.0 without one.
    static func isOurs(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return true }
        var host = Substring(authority)
        if host.hasPrefix("[") {
            host = host.dropFirst().prefix { $0 != "]" }
        } else if let colon = host.lastIndex(of: ":") {
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
}
