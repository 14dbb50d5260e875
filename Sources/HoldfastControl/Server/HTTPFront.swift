internal import HTTPTypes
internal import Holdfast
internal import HoldfastTransport
internal import HummingbirdCore
internal import NIOCore

/// Answers HTTP requests with the results of the desk.
struct HTTPFront: Sendable {
    let server: RequestServer
    let limits: MessageLimits
    /// Answers what there is no resource for; nil for nothing.
    var further: FurtherRequests?

    /// - Parameter channel: the client's connection.
    func answer(_ request: Request, on channel: any Channel) async throws -> Response {
        let response = try await content(of: request, channel)
        guard request.method == .head else { return response }
        // The same head, and by its rule no body behind it.
        return Response(status: response.status, headers: response.headers)
    }

    private func content(of request: Request, _ channel: any Channel) async throws -> Response {
        do {
            let target = try RequestCheck.target(of: request.head) { path in
                further?.paths.contains(path) ?? false
            }
            if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limits.bodyByteCount {
                throw NIOTooManyBytesError(maxBytes: limits.bodyByteCount)
            }
            var request = request
            // A fault of the connection, or of HTTP, is answered by who serves the connection.
            let body = try await request.collectBody(upTo: limits.bodyByteCount)
            let query = RequestCheck.query(of: request.head)
            return await answer(target, query, Array(body.readableBytesView), channel)
        } catch let refusal as RequestRefusal {
            var response = Self.response(refusal.error, refusal.status)
            if let allowed = refusal.allowed { response.headers[.allow] = allowed }
            return response
        } catch is NIOTooManyBytesError {
            // Nobody reads the rest.
            return Self.closing(
                ControlError(
                    .tooLarge,
                    "the request's body has more than \(limits.bodyByteCount) bytes, the limit: send its items in several "
                        + "requests"))
        }
    }

    private func answer(
        _ target: RequestCheck.Target, _ query: Substring, _ body: [UInt8], _ channel: any Channel
    ) async -> Response {
        do {
            // Only waiting ends with the client: an order that has come is done.
            let answer =
                try await target == .resource(.listOutcomes)
                ? ClientWatch.untilClosed(channel) { try await content(of: target, query, body) }
                : content(of: target, query, body)
            guard answer.count <= limits.bodyByteCount else {
                throw ControlError(
                    .tooLarge,
                    "the answer has \(answer.count) bytes, and at most \(limits.bodyByteCount) are sent. What was asked for "
                        + "is done; ask for fewer items in one request")
            }
            return Self.response(.ok, answer)
        } catch {
            return Self.response(error, Self.status(of: error))
        }
    }

    private func content(
        of target: RequestCheck.Target, _ query: Substring, _ body: [UInt8]
    ) async throws -> [UInt8] {
        switch target {
        case .resource(let resource): return try await server.answer(resource, query, body)
        case .further(let path):
            if let answer = try await further?.answer(path, body) { return answer }
            throw ControlError(.unknownRequest, "the process that owns the journal knows no resource \(path)")
        }
    }

    /// The last answer on its connection.
    static func closing(_ error: ControlError) -> Response {
        var response = response(error, status(of: error))
        response.headers[.connection] = "close"
        return response
    }

    /// The header fields that every answer has.
    static let fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]

    static func body(of error: any Error) -> ByteBuffer {
        // Texts can always be encoded.
        let line = (try? Form.line(ErrorForm(error))) ?? Array(#"{"error":{}}"#.utf8)
        return body(line)
    }

    private static func body(_ line: [UInt8]) -> ByteBuffer {
        var body = ByteBuffer(bytes: line)
        body.writeInteger(UInt8(ascii: "\n"))
        return body
    }

    private static func response(_ error: any Error, _ status: HTTPResponse.Status) -> Response {
        Response(status: status, headers: fields, body: .init(byteBuffer: body(of: error)))
    }

    private static func response(_ status: HTTPResponse.Status, _ line: [UInt8]) -> Response {
        Response(status: status, headers: fields, body: .init(byteBuffer: body(line)))
    }

    static func status(of error: any Error) -> HTTPResponse.Status {
        switch error {
        case is Refusal: .unprocessableContent
        case let error as JournalError: status(of: error.code)
        case let error as ControlError:
            switch error.code {
            case .malformed: .badRequest
            case .tooLarge: .contentTooLarge
            case .busy: .serviceUnavailable
            case .permissionDenied: .forbidden
            default: .internalServerError
            }
        default: .internalServerError
        }
    }

    private static func status(of code: JournalError.Code) -> HTTPResponse.Status {
        switch code {
        case .notFound: .notFound
        case .permissionDenied, .readOnly: .forbidden
        case .inUse, .beingRead, .ownedByAnotherProcess, .alreadyExists: .conflict
        case .invalidEntry, .tooManyProducers: .unprocessableContent
        case .closed, .ownershipLost, .unreachable, .copyLost: .serviceUnavailable
        case .limitReached, .diskFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        default: .internalServerError
        }
    }
}
