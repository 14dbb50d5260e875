internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway

/// `/outcomes/stream` of the admin listener: outcomes as they come, as server-sent events, for who has the operators' token.
///
/// Each client is read for from the log, by its own cursor, and nothing is read on before it has taken what was written. So a
/// slow one takes no memory beyond one part of the log, and holds up nobody.
struct OutcomeStreamPage: Sendable {
    static let path = "outcomes/stream"

    let token: OperatorToken
    let wrong: WrongTokens
    /// For the streams that are served at a time.
    let places: WaitPlaces
    /// The engine that runs; nil while none does.
    let engine: @Sendable () -> PushEngine?

    /// What the admin server serves.
    var page: AdminPage { AdminPage(Self.path) { [self] in await answer($0) } }

    func answer(_ request: AdminPage.Request) async -> AdminPage.Answer {
        let generation = token.generation
        if let refused = OutcomesPage.refused(request, token, wrong) { return refused }
        guard let engine = engine() else {
            return OutcomesPage.answer(
                JournalError(.closed, "the journal is not open: ask again when `/health/ready` says that it is"))
        }
        do {
            let question = try OutcomeStreamQuestion(request.query, lastEventID: request.fields["last-event-id"])
            // Asked once before the answer begins, so that a wrong cursor gets its error.
            let log = try await engine.desk.outcomeLog()
            // What is left of an earlier "on" is told, and then that it is off.
            guard log.isKept || log.count > 0 else { throw JournalError.historyIsOff }
            let start = question.after ?? log.newest
            _ = try await engine.desk.outcomes(after: start, limit: 1, of: nil, waitingAtMost: .zero)
            guard places.enter() else {
                let words = "\(places.limit) streams are open, and no more are allowed (admin.streams): ask again later"
                return OutcomesPage.answer(
                    ControlError(.busy, words),
                    fields: ["Retry-After": "5"])
            }
            let client = OutcomeStreamClient(engine, question, from: start)
            return AdminPage.Answer(
                streaming: EventStreamText.type, ended: places.leave,
                token.whilePresent(generation) { try await client.next() })
        } catch {
            return OutcomesPage.answer(error)
        }
    }
}
