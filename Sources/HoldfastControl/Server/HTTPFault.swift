internal import HTTPTypes
internal import Holdfast
internal import NIOCore
internal import NIOHTTP1

/// A request that is refused before it could be read, and ends its connection.
struct HTTPFault {
    private let status: HTTPResponse.Status
    private let error: ControlError

    /// - Parameter limit: how long the request had to come.
    init(tooSlow limit: TimeAmount) {
        status = .requestTimeout
        error = ControlError(
            .timedOut,
            "the request was not complete after \(Duration.nanoseconds(limit.nanoseconds).words), and nothing of it was done: connect "
                + "again, and send it in one go")
    }

    init(_ error: HTTPParserError) {
        switch error {
        case .headerOverflow:
            status = .requestHeaderFieldsTooLarge
            self.error = ControlError(
                .tooLarge,
                "the request's head has more than \(MessageLimits().headByteCount) bytes, or more than "
                    + "\(MessageLimits().fieldCount) header fields: send fewer of them")
        case .invalidVersion:
            status = .httpVersionNotSupported
            self.error = .malformed("the request is of a version of HTTP that is not served here: send HTTP/1.1")
        case .invalidMethod:
            status = .badRequest
            self.error = .malformed(
                "the request begins with no method of HTTP: send GET or POST, such as \(Self.example)")
        case .invalidEOFState:
            status = .badRequest
            self.error = .malformed(
                "the request ended before it was complete: send an empty line behind the head, and as many bytes of body as "
                    + "Content-Length says")
        case .invalidContentLength, .unexpectedContentLength:
            status = .badRequest
            self.error = .malformed(
                "the request does not say plainly how long its body is: send Content-Length once, as a number of bytes, and "
                    + "without Transfer-Encoding")
        case .invalidChunkSize:
            status = .badRequest
            self.error = .malformed(
                "the request's body is not chunked as its Transfer-Encoding says: send Content-Length instead")
        default:
            status = .badRequest
            self.error = .malformed("what came is no request of HTTP/1.1: send one, such as \(Self.example)")
        }
    }

    private static let example = "`curl --unix-socket control.sock http://holdfast/v1/status`"

    var answer: (HTTPResponse, ByteBuffer) {
        let body = HTTPFront.body(of: error)
        var fields = HTTPFront.fields
        fields[.contentLength] = "\(body.readableBytes)"
        fields[.connection] = "close"
        return (HTTPResponse(status: status, headerFields: fields), body)
    }
}
