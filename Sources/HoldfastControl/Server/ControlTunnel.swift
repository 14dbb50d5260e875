package import Holdfast

/// Answers requests that come as bytes, by another way than the socket, as the socket would answer them.
package struct ControlTunnel: Sendable {
    private let server: RequestServer
    private let limits = MessageLimits()
    private let more: FurtherRequests.Answer?

    /// - Parameters:
    ///   - greatestWaits: requests that may wait for outcomes at a time.
    ///   - more: answers what the socket has no resource for.
    package init(desk: any OperatorDesk, greatestWaits: Int = 6, more: FurtherRequests.Answer? = nil) {
        server = RequestServer(desk: desk, waits: WaitPlaces(limit: greatestWaits))
        self.more = more
    }

    /// - Returns: the answer, also of an error.
    package func answer(_ request: [UInt8]) async -> [UInt8] {
        do {
            guard let request = TunnelRequest(request) else {
                throw ControlError.malformed("what came is no request of the control protocol")
            }
            try limits.check(request.body, "a request")
            let answer = try await answer(request)
            try limits.check(answer, "the answer to what is done")
            return TunnelAnswer.bytes(200, answer)
        } catch {
            return Self.answer(error)
        }
    }

    private func answer(_ request: TunnelRequest) async throws -> [UInt8] {
        if let resource = Resource(rawValue: request.resource) {
            return try await server.answer(resource, Substring(request.query), request.body)
        }
        if let answer = try await more?(request.resource, request.body) { return answer }
        throw ControlError(
            .unknownRequest,
            "the process that owns the journal knows no resource \(request.resource.prefix(200).debugDescription): its "
                + "Holdfast is older than what asks it")
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
