internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway

/// The page `/outcomes` of the admin listener: ended notifications as JSON, for clients that have the operators' token.
struct OutcomesPage: Sendable {
    static let path = "outcomes"
    /// Below ``AdminConfiguration/request``, at which the connection is closed.
    private static let longestWait = Duration.seconds(8)
    private static let json = "application/json"

    let token: OperatorToken
    let wrong: WrongTokens
    /// For requests that wait: fewer than there are connections, so that probes are answered.
    let places: WaitPlaces
    /// The desk of the engine that runs; nil while none does.
    let desk: @Sendable () -> (any OutcomeDesk)?

    /// What the admin server serves.
    var page: AdminPage { AdminPage(Self.path) { [self] in await answer($0) } }

    func answer(_ request: AdminPage.Request) async -> AdminPage.Answer {
        if let refused = Self.refused(request, token, wrong) { return refused }
        guard let desk = desk() else {
            return Self.answer(
                503,
                OutcomeAnswer.answer(
                    JournalError(.closed, "the journal is not open: ask again when `/health/ready` says that it is")
                ).body)
        }
        let (status, body) = await OutcomeAnswer(desk: desk, places: places, longestWait: Self.longestWait)
            .answer(request.query)
        // It may have waited, and the token is another now.
        if let refused = Self.refused(request, token, wrong) { return refused }
        return Self.answer(status, body, fields: status == 503 ? ["Retry-After": "5"] : [:])
    }

    private static func answer(_ status: Int, _ body: [UInt8], fields: [String: String] = [:]) -> AdminPage.Answer {
        AdminPage.Answer(
            status, type: json, body.last == UInt8(ascii: "\n") ? body : body + [UInt8(ascii: "\n")], fields: fields)
    }

    /// An error as an answer.
    static func answer(_ error: any Error, fields: [String: String] = [:]) -> AdminPage.Answer {
        let (status, body) = OutcomeAnswer.answer(error)
        return answer(status, body, fields: fields)
    }

    /// 401, and how to do better, for a request without the token; nil for one with it.
    static func refused(
        _ request: AdminPage.Request, _ token: OperatorToken, _ wrong: WrongTokens
    ) -> AdminPage.Answer? {
        guard let refusal = token.refusal(of: request.authorization) else { return nil }
        if refusal == .wrong { wrong.tell(request) }
        let error = ControlError(.permissionDenied, refusal.message)
        return answer(401, OutcomeAnswer.answer(error).body, fields: ["WWW-Authenticate": "Bearer realm=\"holdfast\""])
    }
}
