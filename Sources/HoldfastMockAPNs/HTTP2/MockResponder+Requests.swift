import HoldfastHTTP2
import HoldfastMocking

extension MockResponder {
    /// The place of the id in ``acceptedBlock``: at its end.
    private static let idStart = 1 + 1 + 1 + 7 + 1

    /// The header block of a 200: one byte, and the apns-id where it is echoed.
    static func acceptedBlock(withID: Bool) -> [UInt8] {
        let headers = withID ? [(name: "apns-id", value: NotificationIDText().text)] : []
        return HTTP2ServerSession.headerBlock(status: 200, headers)
    }

    /// Judges one request and answers it, now or later.
    mutating func handle(_ request: HTTP2ServerEvents.Request, in events: HTTP2ServerEvents) {
        tally.requests += 1
        requestCount += 1
        guard request.streamID <= stage.lastStreamID else {
            tally.ignored += 1
            return
        }
        guard stage.firstStream.admits(request.streamID) else { return refuseSecond(request.streamID) }
        let fields = RequestFields(HeaderSelection(events.headers, request.fields))
        let target = RequestTarget(path: fields.path, isManagement: address.isManagement)
        if behavior != nil || script != nil || service.configuration.observer != nil || !target.isDevice {
            return handleObserved(request, fields, target, events)
        }
        setID(fields, target)
        if let rejection = rejection(of: fields, target, bodyByteCount: request.body.count) {
            reject(request.streamID, rejection)
        } else {
            enter(fields, target)
            accept(request.streamID)
        }
    }

    /// Refuses a second stream on a connection whose first was not answered with 200 yet.
    private mutating func refuseSecond(_ streamID: UInt32) {
        tally.refusedBeforeFirst += 1
        guard service.configuration.firstStreamRule == .goAway else {
            return stage.give(PreparedAnswer(streamID: streamID, .reset(code: 0x7)), after: .zero)
        }
        let goAway = MockGoAway(code: 1, lastStreamID: streamID - 2, debugData: #"{"reason":"TooManyRequests"}"#)
        stage.lastStreamID = streamID - 2
        stage.happen(.goAway(goAway))
    }

    /// Judges the path, then the provider token, then the rest of the request, then the state of the token or the
    /// channel.
    mutating func rejection(
        of fields: RequestFields, _ target: RequestTarget, bodyByteCount: Int
    ) -> MockRejection? {
        let validator = service.validator
        if let rejection = rejection(ofSender: fields, target) { return rejection }
        if let bundleID = target.bundleID {
            if let rejection = validator.rejection(ofBundle: bundleID) { return rejection }
            return address.isManagement ? nil : rejection(ofBroadcast: fields, to: bundleID, bodyByteCount)
        }
        let isKnown = knownFields.map(fields.hasAttributes) ?? false
        if let rejection = validator.rejection(
            of: fields, bodyByteCount: bodyByteCount, hasKnownAttributes: isKnown)
        {
            return rejection
        }
        if !isKnown { knownFields = fields.kept() }
        return validator.rejectsTokens ? validator.rejection(ofToken: fields.token, topic: fields.topic) : nil
    }

    private mutating func rejection(
        ofBroadcast fields: RequestFields, to bundleID: String, _ bodyByteCount: Int
    ) -> MockRejection? {
        if let rejection = service.validator.rejection(ofBroadcast: fields, bodyByteCount: bodyByteCount) {
            return rejection
        }
        guard let channel = fields.channel else { return "MissingChannelId" }
        return service.validator.rejection(ofChannel: channel)
            ?? service.channels.rejection(ofBroadcastTo: channel, bundleID, expires: fields.expiration != "0")
    }

    /// Judges the path, then the sender: the first checks of every request.
    private mutating func rejection(ofSender fields: RequestFields, _ target: RequestTarget) -> MockRejection? {
        service.validator.rejection(ofRoute: fields, target, isManagement: address.isManagement)
            ?? rejection(ofAuthorizationIn: fields)
    }

    private mutating func rejection(ofAuthorizationIn fields: RequestFields) -> MockRejection? {
        guard service.configuration.providerTokens != .ignored else { return nil }
        if let last = lastAuthorization, fields.hasAuthorization(of: last.fields) {
            return last.verdict.rejection(at: now)
        }
        guard let authorization = fields.authorization else { return "MissingProviderToken" }
        guard let verdict = service.verifier.verdict(on: authorization) else { return "MissingProviderToken" }
        lastAuthorization = (fields.kept(), verdict)
        return verdict.rejection(at: now)
    }

    /// Sets the answer's apns-id or apns-request-id: the request's, if it has a well-formed one.
    private mutating func setID(_ fields: RequestFields, _ target: RequestTarget) {
        idName = target.bundleID == nil ? "apns-id" : "apns-request-id"
        if target.bundleID == nil {
            if fields.hasWellFormedID, let text = fields.id { return id.set(text) }
        } else if let text = fields.requestID, RequestValidator.isNotificationID(text) {
            return id.set(text)
        }
        id.setRandom()
    }

    /// Records an accepted notification in the counters, and in the ledger before the answer goes out.
    private mutating func enter(_ fields: RequestFields, _ target: RequestTarget) {
        tally.accepted += 1
        guard service.ledger != nil else { return }
        if case .broadcast(let bundleID) = target {
            return LedgerLine.append(id: id, channel: fields.channel ?? "", topic: bundleID, to: &ledgerLines)
        }
        ledgerLine.append(id: id, path: fields.path ?? "", topic: fields.topic ?? "", to: &ledgerLines)
    }

    private mutating func accept(_ streamID: UInt32) {
        let delay = service.configuration.delay
        guard delay == .zero, !stage.owesSizeUpdate, !service.configuration.isSandbox else {
            return stage.give(
                PreparedAnswer(streamID: streamID, accepted(.device).content, isSuccess: true), after: delay)
        }
        setAcceptedID()
        stage.session.respond(streamID: streamID, headerBlock: acceptedBlock)
        stage.noteAnswer(streamID, isSuccess: true)
    }

    private mutating func setAcceptedID() {
        guard service.configuration.echoesNotificationID else { return }
        for index in id.bytes.indices { acceptedBlock[Self.idStart + index] = id.bytes[index] }
    }

    mutating func accepted(
        _ target: RequestTarget
    ) -> (content: PreparedAnswer.Content, uniqueID: String?) {
        let isSandbox = service.configuration.isSandbox
        guard isSandbox || !target.isDevice else {
            setAcceptedID()
            return (.response(headerBlock: acceptedBlock, body: [], bodyFrameByteCount: nil), nil)
        }
        uniqueID.setRandom()
        let unique = isSandbox ? [(name: "apns-unique-id", value: uniqueID.text)] : []
        let block = HTTP2ServerSession.headerBlock(status: 200, idHeader + unique)
        return (.response(headerBlock: block, body: [], bodyFrameByteCount: nil), isSandbox ? uniqueID.text : nil)
    }

    var idHeader: [(name: String, value: String)] {
        service.configuration.echoesNotificationID ? [(idName, id.text)] : []
    }

    private mutating func reject(_ streamID: UInt32, _ rejection: MockRejection) {
        tally.rejected[rejection.reason, default: 0] += 1
        stage.give(PreparedAnswer(streamID: streamID, refused(rejection, nil)), after: service.configuration.delay)
    }

    mutating func refused(_ rejection: MockRejection, _ bodyFrameByteCount: Int?) -> PreparedAnswer.Content {
        let retryAfter = rejection.retryAfter.map { [(name: "retry-after", value: $0)] } ?? []
        return .response(
            headerBlock: HTTP2ServerSession.headerBlock(status: rejection.status, idHeader + retryAfter),
            body: PreparedAnswer.body(of: rejection, defaultTimestamp: service.startedAt),
            bodyFrameByteCount: bodyFrameByteCount)
    }

    // MARK: The slow path, with a behavior or an observer, and for channels

    private mutating func handleObserved(
        _ received: HTTP2ServerEvents.Request, _ fields: RequestFields, _ target: RequestTarget,
        _ events: HTTP2ServerEvents
    ) {
        let request = MockRequest(
            headers: events.headers(of: received).map { ($0.name, $0.value) },
            body: Array(events.bodies[received.body]), connection: number, number: requestCount, address: address,
            subject: MockRequest.Subject(fields, target))
        setID(fields, target)
        let answer = behavior?.decide(request) ?? script?.answer(to: request) ?? MockAnswer()
        let outcome = outcome(of: answer, fields, target, request.body)
        if outcome.isAccepted { enter(fields, target) }
        var prepared = PreparedAnswer(
            streamID: received.streamID, outcome.content, isSuccess: outcome.status.map((200..<300).contains) ?? false)
        prepared.bodyPause = answer.bodyPause
        prepared.effects = answer.effects(behind: received.streamID)
        if answer.ending != nil || !prepared.effects.isEmpty { stage.setLast(prepared.effects, received.streamID) }
        stage.give(prepared, after: service.configuration.delay + answer.delay)
        guard service.configuration.observer != nil else { return }
        exchanges.append(
            MockExchange(
                request: request, status: outcome.status, reason: outcome.reason, isAccepted: outcome.isAccepted,
                id: id.text, uniqueID: outcome.uniqueID))
    }
}
