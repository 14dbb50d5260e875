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
        guard !isEnded else {
            tally.ignored += 1
            return
        }
        if behavior != nil || service.configuration.observer != nil { return handleObserved(request, bodies) }
        let fields = RequestFields(request.headers)
        setID(fields)
        if let rejection = rejection(of: fields, request) {
            reject(request.streamID, rejection)
        } else {
            enter(fields)
            accept(request.streamID)
        }
    }

    /// The validator's verdict, then the provider token's, then the token's own.
    private mutating func rejection(of fields: RequestFields, _ request: HTTP2ServerEvents.Request) -> MockRejection? {
        let validator = service.validator
        let isKnown = knownFields.map(fields.hasAttributes) ?? false
        if let rejection = validator.rejection(
            of: fields, bodyByteCount: request.body.count, hasKnownAttributes: isKnown)
        {
            return rejection
        }
        if !isKnown { knownFields = fields }
        if let rejection = rejection(ofAuthorization: fields.authorization) { return rejection }
        return validator.rejectsTokens ? validator.rejection(ofToken: fields.token) : nil
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
        guard delay == .zero, !owesSizeUpdate else {
            return give(PreparedAnswer(streamID: streamID, accepted()), after: delay)
        }
        setAcceptedID()
        session.respond(streamID: streamID, headerBlock: acceptedBlock)
    }

    private mutating func setAcceptedID() {
        guard service.configuration.echoesNotificationID else { return }
        for index in id.bytes.indices { acceptedBlock[Self.idStart + index] = id.bytes[index] }
    }

    private mutating func accepted() -> PreparedAnswer.Content {
        setAcceptedID()
        return .response(headerBlock: acceptedBlock, body: [], bodyFrameByteCount: nil)
    }

    private mutating func reject(_ streamID: UInt32, _ rejection: MockRejection) {
        tally.rejected[rejection.reason, default: 0] += 1
        give(PreparedAnswer(streamID: streamID, refused(rejection, nil)), after: service.configuration.delay)
    }

    private mutating func refused(_ rejection: MockRejection, _ bodyFrameByteCount: Int?) -> PreparedAnswer.Content {
        let headers = service.configuration.echoesNotificationID ? [(name: "apns-id", value: id.text)] : []
        return .response(
            headerBlock: HTTP2ServerSession.headerBlock(status: rejection.status, headers),
            body: PreparedAnswer.body(of: rejection, defaultTimestamp: service.startedAt),
            bodyFrameByteCount: bodyFrameByteCount)
    }

    // MARK: The slow way, with a behavior or an observer

    private mutating func handleObserved(_ received: HTTP2ServerEvents.Request, _ bodies: [UInt8]) {
        let request = MockRequest(
            headers: received.headers.map { ($0.name, $0.value) }, body: Array(bodies[received.body]),
            connection: number,
            number: requestCount)
        let fields = RequestFields(received.headers)
        setID(fields)
        let answer = behavior?.decide(request) ?? MockAnswer()
        let outcome = outcome(of: answer, fields, received)
        if outcome.isAccepted { enter(fields) }
        var prepared = PreparedAnswer(streamID: received.streamID, outcome.content)
        prepared.maxConcurrentStreams = answer.maxConcurrentStreams
        prepared.ending = answer.ending
        if answer.ending != nil { isEnded = true }
        give(prepared, after: service.configuration.delay + answer.delay)
        guard service.configuration.observer != nil else { return }
        exchanges.append(
            MockExchange(
                request: request, status: outcome.status, reason: outcome.reason, isAccepted: outcome.isAccepted,
                id: id.text))
    }

    private struct Outcome {
        var content: PreparedAnswer.Content
        var status: Int?
        var reason: String?
        var isAccepted = false
    }

    private mutating func outcome(
        of answer: MockAnswer, _ fields: RequestFields, _ request: HTTP2ServerEvents.Request
    ) -> Outcome {
        switch answer.content {
        case .validated:
            if let rejection = rejection(of: fields, request) { return outcome(of: rejection, answer) }
            return Outcome(content: accepted(), status: 200, isAccepted: true)
        case .accepted:
            return Outcome(content: accepted(), status: 200, isAccepted: true)
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
