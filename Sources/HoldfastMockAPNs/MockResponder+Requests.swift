import HoldfastHTTP2

extension MockResponder {
    /// Where the id stands in ``acceptedBlock``: at its end.
    private static let idStart = 1 + 1 + 1 + 7 + 1

    /// The header block of a 200: one byte, and the apns-id where it is echoed.
    static func acceptedBlock(withID: Bool) -> [UInt8] {
        let headers = withID ? [(name: "apns-id", value: NotificationIDText().text)] : []
        return HTTP2ServerSession.headerBlock(status: 200, headers)
    }

    /// Judges one request and answers it, or has it answered later.
    mutating func handle(_ request: HTTP2ServerEvents.Request, bodies: [UInt8]) {
        tally.requests += 1
        requestCount += 1
        guard request.streamID <= lastStreamID else {
            tally.ignored += 1
            return
        }
        guard firstStream.admits(request.streamID) else { return refuseSecond(request.streamID) }
        if behavior != nil || script != nil || service.configuration.observer != nil {
            return handleObserved(request, bodies)
        }
        let fields = RequestFields(request.headers)
        setID(fields)
        if let rejection = rejection(of: fields, request) {
            reject(request.streamID, rejection)
        } else {
            enter(fields)
            accept(request.streamID)
        }
    }

    /// One stream too many for a connection that has not answered its first with 200.
    private mutating func refuseSecond(_ streamID: UInt32) {
        tally.refusedBeforeFirst += 1
        guard service.configuration.firstStreamRule == .goAway else {
            return give(PreparedAnswer(streamID: streamID, .reset(code: 0x7)), after: .zero)
        }
        let goAway = MockGoAway(code: 1, lastStreamID: streamID - 2, debugData: #"{"reason":"TooManyRequests"}"#)
        lastStreamID = streamID - 2
        happen(.goAway(goAway))
    }

    /// The validator's verdict on what the path says, then the provider token's, then the validator's on the rest, then the
    /// token's own.
    private mutating func rejection(of fields: RequestFields, _ request: HTTP2ServerEvents.Request) -> MockRejection? {
        let validator = service.validator
        if let rejection = validator.rejection(ofRoute: fields) { return rejection }
        if let rejection = rejection(ofAuthorization: fields.authorization) { return rejection }
        let isKnown = knownFields.map(fields.hasAttributes) ?? false
        if let rejection = validator.rejection(
            of: fields, bodyByteCount: request.body.count, hasKnownAttributes: isKnown)
        {
            return rejection
        }
        if !isKnown { knownFields = fields }
        return validator.rejectsTokens ? validator.rejection(ofToken: fields.token, topic: fields.topic) : nil
    }

    private mutating func rejection(ofAuthorization authorization: String?) -> MockRejection? {
        guard service.configuration.providerTokens != .ignored else { return nil }
        guard let authorization else { return "MissingProviderToken" }
        if let last = lastAuthorization, last.text == authorization { return last.verdict.rejection(at: now) }
        guard let verdict = service.verifier.verdict(on: authorization) else { return "MissingProviderToken" }
        lastAuthorization = (authorization, verdict)
        return verdict.rejection(at: now)
    }

    /// The answer's apns-id: the request's, where it has one that is well-formed.
    private mutating func setID(_ fields: RequestFields) {
        if fields.hasWellFormedID, let text = fields.id { id.set(text) } else { id.setRandom() }
    }

    /// Takes the notification: in the books, and in the ledger before the answer goes out.
    private mutating func enter(_ fields: RequestFields) {
        tally.accepted += 1
        guard service.ledger != nil else { return }
        ledgerLine.append(id: id, path: fields.path ?? "", topic: fields.topic ?? "", to: &ledgerLines)
    }

    private mutating func accept(_ streamID: UInt32) {
        let delay = service.configuration.delay
        guard delay == .zero, !owesSizeUpdate, !service.configuration.isSandbox else {
            return give(PreparedAnswer(streamID: streamID, accepted().content, isSuccess: true), after: delay)
        }
        setAcceptedID()
        session.respond(streamID: streamID, headerBlock: acceptedBlock)
        noteAnswer(streamID, isSuccess: true)
    }

    private mutating func setAcceptedID() {
        guard service.configuration.echoesNotificationID else { return }
        for index in id.bytes.indices { acceptedBlock[Self.idStart + index] = id.bytes[index] }
    }

    private mutating func accepted() -> (content: PreparedAnswer.Content, uniqueID: String?) {
        guard service.configuration.isSandbox else {
            setAcceptedID()
            return (.response(headerBlock: acceptedBlock, body: [], bodyFrameByteCount: nil), nil)
        }
        uniqueID.setRandom()
        let block = HTTP2ServerSession.headerBlock(status: 200, idHeader + [("apns-unique-id", uniqueID.text)])
        return (.response(headerBlock: block, body: [], bodyFrameByteCount: nil), uniqueID.text)
    }

    private var idHeader: [(name: String, value: String)] {
        service.configuration.echoesNotificationID ? [("apns-id", id.text)] : []
    }

    private mutating func reject(_ streamID: UInt32, _ rejection: MockRejection) {
        tally.rejected[rejection.reason, default: 0] += 1
        give(PreparedAnswer(streamID: streamID, refused(rejection, nil)), after: service.configuration.delay)
    }

    private mutating func refused(_ rejection: MockRejection, _ bodyFrameByteCount: Int?) -> PreparedAnswer.Content {
        let retryAfter = rejection.retryAfter.map { [(name: "retry-after", value: $0)] } ?? []
        return .response(
            headerBlock: HTTP2ServerSession.headerBlock(status: rejection.status, idHeader + retryAfter),
            body: PreparedAnswer.body(of: rejection, defaultTimestamp: service.startedAt),
            bodyFrameByteCount: bodyFrameByteCount)
    }

    // MARK: The slow way, with a behavior or an observer

    private mutating func handleObserved(_ received: HTTP2ServerEvents.Request, _ bodies: [UInt8]) {
        let request = MockRequest(
            headers: received.headers.map { ($0.name, $0.value) }, body: Array(bodies[received.body]),
            connection: number, number: requestCount, address: address)
        let fields = RequestFields(received.headers)
        setID(fields)
        let answer = behavior?.decide(request) ?? script?.answer(to: request) ?? MockAnswer()
        let outcome = outcome(of: answer, fields, received)
        if outcome.isAccepted { enter(fields) }
        var prepared = PreparedAnswer(streamID: received.streamID, outcome.content, isSuccess: outcome.status == 200)
        prepared.bodyPause = answer.bodyPause
        prepared.effects = answer.effects(behind: received.streamID)
        // From now on, however late the answer: what comes behind it is left alone. A GOAWAY may name a later one.
        if answer.ending != nil || !prepared.effects.isEmpty { setLast(prepared.effects, received.streamID) }
        give(prepared, after: service.configuration.delay + answer.delay)
        guard service.configuration.observer != nil else { return }
        exchanges.append(
            MockExchange(
                request: request, status: outcome.status, reason: outcome.reason, isAccepted: outcome.isAccepted,
                id: id.text, uniqueID: outcome.uniqueID))
    }

    private mutating func setLast(_ effects: [MockEffect], _ streamID: UInt32) {
        for effect in effects {
            guard let last = effect.lastStreamID else { continue }
            lastStreamID = min(lastStreamID, last == 0 ? streamID : last)
        }
    }

    private struct Outcome {
        var content: PreparedAnswer.Content
        var status: Int?
        var reason: String?
        var isAccepted = false
        var uniqueID: String?

        static func accepted(_ answer: (content: PreparedAnswer.Content, uniqueID: String?)) -> Outcome {
            Outcome(content: answer.content, status: 200, isAccepted: true, uniqueID: answer.uniqueID)
        }
    }

    private mutating func outcome(
        of answer: MockAnswer, _ fields: RequestFields, _ request: HTTP2ServerEvents.Request
    ) -> Outcome {
        switch answer.content {
        case .validated:
            if let rejection = rejection(of: fields, request) { return outcome(of: rejection, answer) }
            return .accepted(accepted())
        case .accepted:
            return .accepted(accepted())
        case .acceptedInSilence:
            tally.unanswered += 1
            return Outcome(content: .silence, isAccepted: true)
        case .rejected(let rejection):
            return outcome(of: rejection, answer)
        case .response(let status, let headers, let body):
            tally.scripted += 1
            let block = HTTP2ServerSession.headerBlock(status: status, headers)
            return Outcome(
                content: .response(headerBlock: block, body: body, bodyFrameByteCount: answer.bodyFrameByteCount),
                status: status)
        case .reset(let code):
            tally.reset += 1
            return Outcome(content: .reset(code: code))
        case .acceptedAndReset(let code):
            tally.reset += 1
            return Outcome(content: .reset(code: code), isAccepted: true)
        case .silence:
            tally.unanswered += 1
            return Outcome(content: .silence)
        }
    }

    private mutating func outcome(of rejection: MockRejection, _ answer: MockAnswer) -> Outcome {
        tally.rejected[rejection.reason, default: 0] += 1
        return Outcome(
            content: refused(rejection, answer.bodyFrameByteCount), status: rejection.status, reason: rejection.reason)
    }
}
