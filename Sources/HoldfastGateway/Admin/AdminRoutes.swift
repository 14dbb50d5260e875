internal import HTTPTypes
internal import HoldfastTransport
internal import Hummingbird
internal import NIOCore

/// Puts the pages of an ``AdminServer`` onto its router, each with the methods that it has.
struct AdminRoutes {
    let pages: [AdminPage]

    /// - Parameter own: the paths of the server's own pages, which are read only.
    func add(to router: Router<AdminContext>, own: [String]) {
        for page in pages {
            switch page.method {
            case .get: router.get(Self.path(page)) { try await Self.answer(page, $0, $1) }
            case .post: router.post(Self.path(page)) { try await Self.answer(page, $0, $1) }
            }
        }
        // Found, but not with that method.
        let reading = Set(own + pages.filter { $0.method == .get }.map(\.path))
        let changing = Set(pages.filter { $0.method == .post }.map(\.path))
        for path in reading.union(changing) {
            let allow = [reading.contains(path) ? "GET, HEAD" : nil, changing.contains(path) ? "POST" : nil]
            let others =
                [HTTPRequest.Method.put, .patch, .delete, .options]
                + (changing.contains(path) ? [] : [.post]) + (reading.contains(path) ? [] : [.get, .head])
            for method in others {
                router.on(RouterPath(path), method: method) { _, _ in
                    Response(
                        status: .methodNotAllowed,
                        headers: [.allow: allow.compactMap(\.self).joined(separator: ", ")])
                }
            }
        }
    }

    private static func path(_ page: AdminPage) -> RouterPath { RouterPath(page.path) }

    private static func answer(
        _ page: AdminPage, _ request: Request, _ context: AdminContext
    ) async throws -> Response {
        var body: [UInt8] = []
        if page.method == .post {
            do {
                body = Array(buffer: try await request.body.collect(upTo: AdminPage.greatestBody))
            } catch is NIOTooManyBytesError {
                // What follows is not read: the connection ends.
                return Response(status: .contentTooLarge, headers: [.connection: "close"])
            }
        }
        let asked = AdminPage.Request(
            request.head, client: context.channel.remoteAddress?.ipAddress, body: body)
        let answer = try await ClientWatch.untilClosed(context.channel) { await page.answer(asked) }
        return answer.response(to: context.channel)
    }
}
