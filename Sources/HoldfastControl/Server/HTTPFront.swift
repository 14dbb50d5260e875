internal import HTTPTypes
internal import Holdfast
internal import HummingbirdCore
internal import NIOCore

/// Answers HTTP with what the desk says.
struct HTTPFront: Sendable {
    let server: RequestServer
    let limits: MessageLimits

    func answer(_ request: Request) async throws -> Response {
        do {
            let resource = try RequestCheck.resource(of: request.head)
            if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limits.bodyByteCount {
                throw NIOTooManyBytesError(maxBytes: limits.bodyByteCount)
            }
            var request = request
            // What is wrong with the connection, or is no HTTP, is for who serves it to say.
            let body = try await request.collectBody(upTo: limits.bodyByteCount)
            return await answer(resource, Array(body.readableBytesView))
        } catch let refusal as RequestRefusal {
            var response = Self.response(refusal.error, refusal.status)
            if let allowed = refusal.allowed { response.headers[.allow] = allowed.rawValue }
            return response
        } catch is NIOTooManyBytesError {
            // Nobody reads the rest.
            return Self.closing(ControlError(.tooLarge, "a body has at most \(limits.bodyByteCount) bytes"))
        }
    }

    private func answer(_ resource: Resource, _ body: [UInt8]) async -> Response {
        do {
            let answer = try await server.answer(resource, body)
            try limits.check(answer, "the answer")
            return Self.response(.ok, answer)
        } catch {
            return Self.response(error, Self.status(of: error))
        }
    }

    /// The last answer on its connection.
    static func closing(_ error: ControlError) -> Response {
        var response = response(error, status(of: error))
        response.headers[.connection] = "close"
        return response
    }

    private static func response(_ error: any Error, _ status: HTTPResponse.Status) -> Response {
        do {
            return response(status, try Form.line(ErrorForm(error)))
        } catch {
            // Texts can always be encoded.
            return response(.internalServerError, Array(#"{"error":{}}"#.utf8))
        }
    }

    private static func response(_ status: HTTPResponse.Status, _ line: [UInt8]) -> Response {
        var body = ByteBuffer(bytes: line)
        body.writeInteger(UInt8(ascii: "\n"))
        return Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: body))
    }

    private static func status(of error: any Error) -> HTTPResponse.Status {
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
        case .closed: .serviceUnavailable
        case .limitReached, .diskFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        default: .internalServerError
        }
    }
}
