package import Holdfast

/// Answers requests that come as bytes, by another way than the socket, as the socket would answer them.
package struct ControlTunnel: Sendable {
    private let server: RequestServer
    private let limits = MessageLimits()

    /// - Parameter greatestWaits: requests that may wait for outcomes at a time.
    package init(desk: any OperatorDesk, greatestWaits: Int = 6) {
        server = RequestServer(desk: desk, waits: WaitPlaces(limit: greatestWaits))
    }

    /// - Returns: the answer, also of an error.
    package func answer(_ request: [UInt8]) async -> [UInt8] {
        do {
            guard let request = TunnelRequest(request) else {
                throw ControlError.malformed("what came is no request of the control protocol")
            }
            guard let resource = Resource(rawValue: request.resource) else {
                throw ControlError(
                    .unknownRequest,
                    "the process that owns the journal knows no resource \(request.resource.prefix(200).debugDescription): its "
                        + "Holdfast is older than what asks it")
            }
            try limits.check(request.body, "a request")
            let answer = try await server.answer(resource, Substring(request.query), request.body)
            try limits.check(answer, "the answer to what is done")
            return TunnelAnswer.bytes(200, answer)
        } catch {
            return Self.answer(error)
        }
    }

    /// Answers a request that came too late to be carried out.
    package static func answerTooLate() -> [UInt8] {
        answer(
            ControlError(
                .busy, "the request came too late to the journal's owner, and nothing of it was done: ask again"))
    }

    private static func answer(_ error: any Error) -> [UInt8] {
        let (status, body) = OutcomeAnswer.answer(error)
        return TunnelAnswer.bytes(status, body)
    }
}
