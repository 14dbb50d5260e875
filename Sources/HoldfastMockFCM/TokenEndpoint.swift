import Foundation
import HoldfastMocking
import NIOCore
import NIOHTTP1

/// The endpoint that gives access tokens for assertions, over HTTP/1.1: one connection.
final class TokenEndpoint: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Bytes of a request's body that are read. An assertion has some eight hundred.
    private static let bodyLimit = 64 << 10
    private static let path = "/token"
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    private let service: MockFCMService
    private let tokenURI: @Sendable () -> String
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    /// - Parameter tokenURI: the audience of assertions.
    init(_ service: MockFCMService, tokenURI: @escaping @Sendable () -> String) {
        (self.service, self.tokenURI) = (service, tokenURI)
    }

    /// The handlers of a connection.
    static func handlers(_ service: MockFCMService, tokenURI: @escaping @Sendable () -> String) -> [any ChannelHandler]
    {
        [
            HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
            TokenEndpoint(service, tokenURI: tokenURI),
        ]
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let bytes): body += bytes.readableBytesView.prefix(max(Self.bodyLimit - body.count, 0))
        case .end:
            guard let head else { return }
            self.head = nil
            if let answer = answer(to: head) { write(answer, keepAlive: head.isKeepAlive, context) }
        }
    }

    /// A client that speaks no HTTP, breaks off or resets costs only its connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private struct Answer {
        var status: Int
        var body: [UInt8]
        var retryAfter: String?

        init(status: Int, body: [UInt8], retryAfter: String? = nil) {
            (self.status, self.body, self.retryAfter) = (status, body, retryAfter)
        }

        init(error: String, description: String, status: Int = 400, retryAfter: String? = nil) {
            var body = Array(#"{"error":""#.utf8)
            body.appendJSONText(error)
            body += #"","error_description":""#.utf8
            body.appendJSONText(description)
            self.init(status: status, body: body + "\"}".utf8, retryAfter: retryAfter)
        }
    }

    /// - Returns: nil for no answer at all.
    private func answer(to head: HTTPRequestHead) -> Answer? {
        let answer: Answer
        switch service.tokens.departure()?.kind {
        case nil: answer = checked(head)
        case .silence?: return nil
        case .useless?: answer = grant(expiry: nil)
        case .refused(let status, let error, let retryAfter)?:
            answer = Answer(error: error, description: "As the mock was told.", status: status, retryAfter: retryAfter)
        case .response(let status, let body)?: answer = Answer(status: status, body: body)
        }
        service.counters.withLock { counters in
            if answer.status == 200 { counters.tokens += 1 } else { counters.tokensRefused += 1 }
        }
        return answer
    }

    private func checked(_ head: HTTPRequestHead) -> Answer {
        guard head.method == .POST, head.uri == Self.path else {
            return Answer(error: "not_found", description: "There is POST \(Self.path), and nothing else.", status: 404)
        }
        let form = Self.form(String(decoding: body, as: UTF8.self))
        guard form["grant_type"] == Self.grantType else {
            return Answer(
                error: "unsupported_grant_type", description: "Invalid grant_type: \(form["grant_type"] ?? "")")
        }
        guard let assertion = form["assertion"] else {
            return Answer(error: "invalid_request", description: "Missing required parameter: assertion")
        }
        let now = MockFCMService.milliseconds()
        let check = AssertionCheck(account: service.account, tokenURI: tokenURI())
        if let fault = check.fault(in: assertion, at: now / 1000) {
            return Answer(error: fault.error, description: fault.description)
        }
        return grant(expiry: now + Int64(service.configuration.tokenLifetime / .milliseconds(1)))
    }

    private func grant(expiry: Int64?) -> Answer {
        let seconds = max(Int(service.configuration.tokenLifetime / .seconds(1)), 1)
        let token = service.tokens.make(expiry: expiry)
        return Answer(
            status: 200,
            body: Array(#"{"access_token":"\#(token)","expires_in":\#(seconds),"token_type":"Bearer"}"#.utf8))
    }

    /// The fields of an HTML form.
    private static func form(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            fields[String(parts[0])] = parts[1].replacingOccurrences(of: "+", with: " ").removingPercentEncoding
        }
        return fields
    }

    private func write(_ answer: Answer, keepAlive: Bool, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders([
            ("content-type", "application/json; charset=utf-8"), ("content-length", "\(answer.body.count)"),
        ])
        if let retryAfter = answer.retryAfter { headers.add(name: "retry-after", value: retryAfter) }
        if !keepAlive { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let isolated = context.loopBound
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
            if !keepAlive { isolated.value.close(promise: nil) }
        }
    }
}
