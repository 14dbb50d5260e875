internal import Holdfast
internal import HoldfastHTTP2
internal import NIOCore

/// From what the session read to what the engine is told.
extension APNsHandler {
    /// What follows from a cycle's events, once the engine has been told of all of them.
    private struct Consequences {
        var results: [(ticket: Ticket, result: SendResult)] = []
        /// Why the connection takes nothing more, and the result for what it has not sent.
        var farewell: (cause: String, unsent: SendResult?)?
        /// Whether the service has said something that stands for all, and no ticket has carried it yet.
        var untold: SendResult?
        var failure: HTTP2Error?

        mutating func leave(_ cause: String) { farewell = farewell ?? (cause, nil) }
    }

    /// Tells the engine what one cycle of reading brought.
    func report() {
        guard !events.isEmpty else { return }
        if !events.succeeded.isEmpty {
            sink(.confirmed(events.succeeded.map(Ticket.init(rawValue:))))
            if !sentWithOldToken.isEmpty { sentWithOldToken.subtract(events.succeeded) }
            answers.answered(events.succeeded.count, at: .now())
            isProven = true
        }
        if !events.others.isEmpty {
            let others = events.others
            events.removeAll()
            reportOthers(others)
        } else {
            events.removeAll()
        }
        endIfDrained()
    }

    private func reportOthers(_ others: [HTTP2ClientEvents.Event]) {
        var consequences = Consequences()
        tokenOfCycle = token
        for event in others {
            switch event {
            case .response(let tag, let response):
                let result = result(of: response, tag: tag, &consequences)
                consequences.results.append((Ticket(rawValue: tag), result))
            case .reset(let tag, let code, let byPeer, let hasAnswered):
                let result = Self.result(ofReset: code, byPeer: byPeer, hasAnswered: hasAnswered)
                consequences.results.append((Ticket(rawValue: tag), result))
            case .goAway(let received):
                take(received, &consequences)
            case .settingsChanged(let streams, let headerTable):
                settingsChanged(streams: streams, headerTable: headerTable)
            case .pong:
                break
            case .connectionError(let error):
                consequences.failure = error
            }
        }
        perform(consequences)
    }

    /// The results come first: leaving may be the connection's end, behind which nothing may come.
    private func perform(_ consequences: Consequences) {
        if !consequences.results.isEmpty { sink(.results(consequences.results)) }
        if let farewell = consequences.farewell {
            if case .opening = phase, let untold = consequences.untold {
                return fail("\(configuration.endpoint): \(farewell.cause)", kind: Self.kind(of: untold))
            }
            drain(cause: farewell.cause, unsent: farewell.unsent, untold: consequences.untold)
        }
        if let failure = consequences.failure {
            fail("the service broke HTTP/2: \(failure)", kind: .temporary)
        }
    }

    private static func kind(of result: SendResult) -> ConnectError.Kind {
        if case .laneStopped = result.verdict { .configuration } else { .temporary }
    }

    /// The service takes no more requests here. What it says of streams that it has not looked at, it says of what has no
    /// stream yet, too.
    private func take(_ goAway: HTTP2GoAway, _ consequences: inout Consequences) {
        let reason = ErrorBody(goAway.debugData).reason
        let cause = "GOAWAY from the service: \(reason.map { Reason(said: $0).words } ?? "\(goAway.code)")"
        var result = GoAwayReason.result(reason, detail: cause)
        if result.reason == .expiredProviderToken { replaceTokenAfterGoAway(&result) }
        judge(&result)
        consequences.results += goAway.neverProcessed.map { (Ticket(rawValue: $0), result) }
        // The second of two adds the streams that it names; what it says counts only where the first said nothing.
        guard consequences.farewell == nil || reason != nil else { return }
        consequences.farewell = (cause, result)
        consequences.untold = goAway.neverProcessed.isEmpty ? result : nil
    }

    private func result(
        of response: HTTP2Response, tag: UInt64, _ consequences: inout Consequences
    ) -> SendResult {
        let wasOld = sentWithOldToken.remove(tag) != nil
        let body = ErrorBody(response.body)
        var result = SendResult(
            apnsStatus: response.status, reason: body.reason, timestamp: body.timestamp,
            retryAfter: response.retryAfter(at: EngineClock.system.wall()))
        // Apple's sandbox has it; elsewhere nobody asks for what a success says.
        result.uniqueID = response.headers.first(name: "apns-unique-id").flatMap(NotificationID.init)?.description
        result.look(at: response)
        record(response.status, isForeign: result.verdict == .foreign, &consequences)
        if result.verdict == .confirmed { isProven = true }
        judge(&result)
        if case .laneStopped(.credentials) = result.verdict, !wasOld, let token { tokens?.refused(token) }
        if case .neverProcessed(.newProviderToken) = result.verdict, !wasOld { replaceToken(&result, tag: tag) }
        if case .neverProcessed(.newConnection) = result.verdict {
            consequences.leave("the service asks for a new connection: \(body.reason ?? "status \(response.status)")")
        }
        return result
    }

    /// Where nothing is answered for long but refusals that are not about notifications, another connection may fare better.
    private func record(_ status: Int, isForeign: Bool, _ consequences: inout Consequences) {
        let time: TimeAmount?
        switch status {
        case 500: time = answers.failed(at: .now())
        case 403, 429, 501...: time = answers.refused(at: .now())
        case _ where isForeign: time = answers.refused(at: .now())
        default:
            answers.answered(1, at: .now())
            time = nil
        }
        guard let time else { return }
        let seconds = time.nanoseconds / 1_000_000_000
        consequences.leave("all answers of \(seconds) s were refusals, the last with status \(status)")
    }

    /// What follows for the credentials, and from them.
    private func judge(_ result: inout SendResult) {
        if case .deferred(.credentials) = result.verdict { tokens?.holdMinting() }
        // What the old credentials are refused for says nothing of the new ones.
        if isRetired, case .laneStopped = result.verdict { result.verdict = .neverProcessed(.newConnection) }
    }

    /// A connection that ends because its provider token is called expired: the next one has another.
    private func replaceTokenAfterGoAway(_ result: inout SendResult) {
        guard let tokens, let token else { return stop(&result, "no signing key is configured") }
        do throws(APNsConfigurationError) {
            guard try tokens.replace(token) == nil else { return }
            tokens.refused(token)
            stop(&result, "a provider token made just now is called expired: check this machine's clock")
        } catch {
            stop(&result, error.message)
        }
    }

    /// The service calls our provider token expired: a new one, once. If that is expired too, the clocks disagree.
    private func replaceToken(_ result: inout SendResult, tag: UInt64) {
        guard let tokens, let token else { return stop(&result, "no signing key is configured") }
        // Another answer of this cycle has brought a new one already; this request, too, was sent with the old one.
        guard token == tokenOfCycle else { return }
        do throws(APNsConfigurationError) {
            guard let fresh = try tokens.replace(token) else {
                tokens.refused(token)
                return stop(&result, "a provider token made just now is called expired: check this machine's clock")
            }
            sentWithOldToken.formUnion(session.openTags)
            use(fresh)
        } catch {
            stop(&result, error.message)
        }
    }

    private func stop(_ result: inout SendResult, _ why: String) {
        result.verdict = .laneStopped(.credentials)
        result.detail = why
    }

    /// A stream that was answered was processed, whatever its end is called.
    private static func result(ofReset code: HTTP2ErrorCode, byPeer: Bool, hasAnswered: Bool) -> SendResult {
        guard byPeer else { return .unknown("the service's answer was malformed: \(code)") }
        if hasAnswered { return .unknown("the service began to answer, and then reset the stream: \(code)") }
        guard code == .refusedStream else { return .unknown("the service reset the stream: \(code)") }
        return SendResult(.neverProcessed(.none), detail: "the service refused the stream")
    }
}
