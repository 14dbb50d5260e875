internal import Holdfast
internal import HoldfastHTTP2

/// Requests in Google's form: messages, and access tokens.
extension HTTP2IngressSession {
    mutating func takeMessage(
        _ request: HTTP2ServerEvents.Request, _ fields: RequestFields, in events: HTTP2ServerEvents, _ now: WallTime
    ) {
        let id = fields.ownID.flatMap { NotificationID($0) }
        var its = Waiting(
            streamID: request.streamID, id: id ?? ids.next(), idText: nil, form: .message(project: ""),
            answering: fields.answer == nil ? settings.answering : .accepted)
        do throws(GoogleError) {
            let project = try GoogleReader.project(fields)
            its.form = .message(project: project)
            let sender = try credentials.sender(fields, now: now)
            try credentials.check(sender, for: project)
            guard !request.isTruncated else { throw .tooBig }
            let read = try GoogleReader.read(
                fields, events.bodies[request.body], project: project, id: id, now: now, reader)
            its.answering = try answering(fields)
            credentials.letIn(sender)
            var notification = read.notification
            notification.id = its.id
            notification.hasAssignedID = id == nil
            keepTrying(&notification, now)
            if read.validatesOnly {
                checks.append((its, notification))
            } else {
                put(notification, its, fields)
            }
        } catch {
            if let line = Self.line(about: error) {
                troubles[line] = "a message was refused with \(error.word): \(error.message)"
            }
            refuse(its, RefusalAnswer(error), of: fields)
        }
    }

    private func answering(_ fields: RequestFields) throws(GoogleError) -> AnswerMode? {
        do throws(Refusal) {
            return try RequestReader.answering(fields, orElse: settings.answering)
        } catch {
            throw GoogleError(error)
        }
    }

    private static func line(about error: GoogleError) -> ListenerLog.Line? {
        switch error.code {
        case "UNAUTHENTICATED": .refusedTokens
        case "PERMISSION_DENIED": .refusedTopics
        default: nil
        }
    }

    // MARK: Messages that are only to be checked

    mutating func takeChecks() -> [(its: Waiting, notification: PushNotification)] {
        guard !checks.isEmpty else { return [] }
        defer { checks = [] }
        return checks
    }

    /// - Parameter refusal: nil for a message that would be accepted.
    mutating func checked(_ its: Waiting, _ refusal: Refusal?) {
        if let refusal { return refuse(its, its.form.answer(to: refusal)) }
        guard case .message(let project) = its.form else { return }
        answers.validated(its, project, &session)
    }

    /// Answers where nobody can say whether the message is on disk.
    mutating func writeUndetermined(_ its: Waiting) {
        answers.refuse(its, RefusalAnswer(GoogleError.undetermined), .unknown, &session)
    }

    // MARK: Access tokens

    mutating func takeTokenRequest(
        _ request: HTTP2ServerEvents.Request, _ fields: RequestFields, in events: HTTP2ServerEvents, _ now: WallTime
    ) {
        do throws(TokenRefusal) {
            guard fields.isPost else {
                throw TokenRefusal(status: 405, error: "invalid_request", description: "There is POST /token.")
            }
            let form = try TokenForm(events.bodies[request.body])
            let token = try credentials.grant(form.assertion, now: now)
            answerToken(
                request.streamID, 200,
                Array(
                    #"{"access_token":"\#(token)","expires_in":\#(SenderAccounts.lifetime),"token_type":"Bearer"}"#.utf8
                ))
        } catch {
            troubles[.refusedTokens] = "an access token was refused with \(error.error): \(error.description)"
            tally.refused[error.error, default: 0] += 1
            answerToken(request.streamID, error.status, fields.isHead ? [] : error.body)
        }
    }

    private mutating func answerToken(_ streamID: UInt32, _ status: Int, _ body: [UInt8]) {
        var headers = [(name: "content-type", value: "application/json; charset=utf-8"), ("cache-control", "no-store")]
        if status == 429 { headers.append(("retry-after", "\(settings.tokenInterval)")) }
        session.respond(streamID: streamID, status: status, headers: headers, body: body)
    }
}
