import HoldfastHTTP2
import HoldfastMocking

/// The protocol logic of one connection: requests in; answers and ledger lines out.
struct MockFCMResponder: MockResponding {
    private let service: MockFCMService
    /// The connection's number.
    private let number: Int
    /// The address that the client connected to.
    private let address: MockAddress
    var stage: MockStage
    var ledgerLines: [UInt8] = []
    private var tally = MockFCMCounters()
    private var exchanges: [MockExchange] = []
    private var requestCount = 0
    private var behavior: MockBehavior?
    private var script: ScriptRunner?
    /// The answer to what is taken unread, but for its name.
    private let takenBlock = Self.block(200, [], type: Self.json)
    private let takenBody: [UInt8]

    /// The result of a request.
    private struct Outcome {
        var content: PreparedAnswer.Content
        var status: Int?
        var reason: String?
        var isAccepted = false
        var name = ""
    }

    /// A refusal, with what its body says beside the words.
    private struct Refusal: Error {
        var rejection: MockRejection
        var message: String?
        var field: String?
        /// A page of HTML, as Google answers to paths that it does not know.
        var isPage = false
    }

    init(service: MockFCMService, number: Int, address: MockAddress, plan: MockConnectionPlan) {
        self.service = service
        self.number = number
        self.address = address
        takenBody = Array("{\n  \"name\": \"projects/\(service.configuration.project)/messages/0:\(number)-".utf8)
        stage = MockStage(
            names: FCMRequestFields.names, streams: service.configuration.maxConcurrentStreams, plan: plan,
            streamLimit: MockStreamLimit(
                hiddenCount: service.configuration.hiddenStreamLimit,
                goAway: MockGoAway(code: 1, debugData: "exceeded_max_concurrent_streams")))
    }

    mutating func receive(_ bytes: Span<UInt8>) {
        (behavior, script) = service.overrides.answers
        guard let events = stage.receive(bytes) else { return }
        tally.protocolErrors += stage.takeProtocolErrors()
        for request in events.requests { handle(request, in: events) }
        stage.putBack(events)
    }

    mutating func ledgerFailed() { tally.ledgerFailures += 1 }

    mutating func publish() {
        tally.streamLimitExceeded += stage.takeExcesses()
        service.counters.withLock { $0.add(tally) }
        tally = MockFCMCounters()
        guard let observer = service.configuration.observer, !exchanges.isEmpty else { return }
        observer(exchanges)
        exchanges.removeAll()
    }

    // MARK: One request

    private mutating func handle(_ received: HTTP2ServerEvents.Request, in events: HTTP2ServerEvents) {
        tally.requests += 1
        requestCount += 1
        guard received.streamID <= stage.lastStreamID else {
            tally.ignored += 1
            return
        }
        guard service.configuration.checksRequests || behavior != nil || script != nil else {
            return takeUnread(received.streamID)
        }
        let fields = FCMRequestFields(HeaderSelection(events.headers, received.fields))
        let body = Array(events.bodies[received.body])
        let message = Result { () throws(MockFault) in try FCMMessage(body, idKey: service.configuration.idKey) }
        let request = MockRequest(
            headers: events.headers(of: received).map { ($0.name, $0.value) }, body: body, connection: number,
            number: requestCount, address: address,
            subject: MockRequest.Subject(
                token: (try? message.get())?.target.lowercased(), topic: fields.project))
        let answer = behavior?.decide(request) ?? script?.answer(to: request) ?? MockAnswer()
        let outcome = outcome(of: answer, fields, message)
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
                id: outcome.name))
    }

    private mutating func takeUnread(_ streamID: UInt32) {
        tally.accepted += 1
        let body = takenBody + "\(requestCount)\"\n}\n".utf8
        let answer = PreparedAnswer(
            streamID: streamID, .response(headerBlock: takenBlock, body: body, bodyFrameByteCount: nil), isSuccess: true
        )
        stage.give(answer, after: service.configuration.delay)
    }

    private mutating func outcome(
        of answer: MockAnswer, _ fields: FCMRequestFields, _ message: Result<FCMMessage, MockFault>
    ) -> Outcome {
        let size = answer.bodyFrameByteCount
        switch answer.content.kind {
        case .validated:
            do throws(Refusal) {
                return take(try checked(fields, message), size)
            } catch {
                return refused(error, size)
            }
        case .accepted: return take(try? message.get(), size)
        case .acceptedInSilence:
            tally.unanswered += 1
            return with(.silence, take(try? message.get(), nil))
        case .acceptedAndReset(let code):
            tally.reset += 1
            return with(.reset(code: code), take(try? message.get(), nil))
        case .acceptedAndRejected(let rejection):
            let taken = take(try? message.get(), nil)
            var outcome = refused(Refusal(rejection: rejection), size)
            outcome.isAccepted = taken.isAccepted
            return outcome
        case .rejected(let rejection): return refused(Refusal(rejection: rejection), size)
        case .response(let status, let headers, let body):
            tally.scripted += 1
            return Outcome(content: response(status, headers, body, size), status: status)
        case .reset(let code):
            tally.reset += 1
            return Outcome(content: .reset(code: code))
        case .silence:
            tally.unanswered += 1
            return Outcome(content: .silence)
        }
    }

    private func with(_ content: PreparedAnswer.Content, _ taken: Outcome) -> Outcome {
        Outcome(content: content, isAccepted: taken.isAccepted, name: taken.name)
    }

    // MARK: Judging

    /// Judges the path, then the access token, the quota, the message, and the state of its target.
    private func checked(
        _ fields: FCMRequestFields, _ message: Result<FCMMessage, MockFault>
    ) throws(Refusal) -> FCMMessage {
        guard let project = fields.project, fields.method == "POST" else {
            throw Refusal(rejection: "NOT_FOUND", isPage: true)
        }
        if service.configuration.checksAccessTokens {
            let now = MockFCMService.milliseconds()
            guard let authorization = fields.authorization, service.tokens.takes(authorization, at: now) else {
                throw Refusal(
                    rejection: "UNAUTHENTICATED",
                    message:
                        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or "
                        + "other valid authentication credential.")
            }
        }
        guard project == service.configuration.project else {
            throw Refusal(
                rejection: "PERMISSION_DENIED",
                message:
                    "Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/"
                    + "projects/\(project)' (or it may not exist).")
        }
        guard service.takesFromQuota() else {
            let retryAfter = service.configuration.quota?.retryAfter
            throw Refusal(rejection: MockRejection("QUOTA_EXCEEDED", retryAfter: retryAfter))
        }
        guard fields.contentType?.hasPrefix("application/json") ?? false else {
            throw Refusal(rejection: "INVALID_ARGUMENT", message: "Content-Type is not application/json.")
        }
        let read: FCMMessage
        do throws(MockFault) { read = try message.get() } catch {
            throw Refusal(rejection: "INVALID_ARGUMENT", message: error.description, field: error.field)
        }
        if let rejection = service.configuration.rejections[read.target] {
            if rejection.status == 429 { service.givesBack() }
            throw Refusal(rejection: rejection)
        }
        return read
    }

    /// - Parameter message: nil for one that can't be read, and was to be accepted all the same.
    private mutating func take(_ message: FCMMessage?, _ bodyFrameByteCount: Int?) -> Outcome {
        let name = service.nextName()
        let isValidatedOnly = message?.isValidatedOnly ?? false
        if isValidatedOnly { tally.validated += 1 } else { tally.accepted += 1 }
        if service.ledger != nil, !isValidatedOnly {
            ledgerLines += #"{"id":""#.utf8
            ledgerLines.appendJSONText(message?.id ?? "")
            ledgerLines += #"","target":""#.utf8
            ledgerLines.appendJSONText(message.map { "\($0.kind):\($0.target)" } ?? "")
            ledgerLines += #"","name":""#.utf8
            ledgerLines.appendJSONText(name)
            ledgerLines += "\"}\n".utf8
        }
        let body = Array("{\n  \"name\": \"\(name)\"\n}\n".utf8)
        return Outcome(
            content: response(200, [], body, bodyFrameByteCount), status: 200, isAccepted: !isValidatedOnly, name: name)
    }

    private mutating func refused(_ refusal: Refusal, _ bodyFrameByteCount: Int?) -> Outcome {
        let rejection = refusal.rejection
        tally.rejected[rejection.reason, default: 0] += 1
        let retryAfter = rejection.retryAfter.map { [(name: "retry-after", value: $0)] } ?? []
        if refusal.isPage {
            let page = Array("<!DOCTYPE html><html><title>Error 404 (Not Found)!!1</title></html>".utf8)
            return Outcome(
                content: response(404, [], page, bodyFrameByteCount, type: "text/html; charset=UTF-8"), status: 404,
                reason: rejection.reason)
        }
        let body = FCMErrorBody.make(rejection, message: refusal.message, field: refusal.field)
        return Outcome(
            content: response(rejection.status, retryAfter, body, bodyFrameByteCount), status: rejection.status,
            reason: rejection.reason)
    }

    private func response(
        _ status: Int, _ headers: [(name: String, value: String)], _ body: [UInt8], _ bodyFrameByteCount: Int?,
        type: String = json
    ) -> PreparedAnswer.Content {
        .response(
            headerBlock: Self.block(status, headers, type: body.isEmpty ? nil : type), body: body,
            bodyFrameByteCount: bodyFrameByteCount)
    }

    private static let json = "application/json; charset=UTF-8"

    /// - Parameter type: of the body, where the headers do not say it; nil for no body.
    private static func block(_ status: Int, _ headers: [(name: String, value: String)], type: String?) -> [UInt8] {
        var usual: [(name: String, value: String)] = []
        if let type, !headers.contains(where: { $0.name == "content-type" }) { usual = [("content-type", type)] }
        return HTTP2ServerSession.headerBlock(status: status, usual + headers)
    }
}
