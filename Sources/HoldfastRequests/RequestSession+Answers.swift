internal import Holdfast
internal import HoldfastHTTP2

/// From what was read to what is told.
extension RequestSession {
    /// The consequences of the events of a read, which follow when all of them have been told.
    private struct Consequences {
        var results: [(ticket: Ticket, result: Dialect.Result)] = []
        /// The reason why the connection takes nothing more, and the result for unsent requests.
        var farewell: (cause: String, verdict: GoAwayVerdict<Dialect.Result>?)?
        /// Whether the service has said something that stands for all, and no ticket has carried it yet.
        var isUntold = false
        var failure: HTTP2Error?

        mutating func leave(_ cause: String) { farewell = farewell ?? (cause, nil) }
    }

    /// Tells what one read brought.
    mutating func report(at now: Moment) {
        guard !events.isEmpty else { return }
        if !events.succeeded.isEmpty {
            let tickets = events.succeeded.map(Ticket.init(rawValue:))
            actions.append(.confirmed(tickets))
            dialect.confirmed(tickets)
            answers.answered(tickets.count, at: now.monotonic)
            prove()
        }
        let others = events.others
        events.removeAll()
        if !others.isEmpty { reportOthers(others, at: now) }
        endIfDrained(at: now)
    }

    private mutating func reportOthers(_ others: [HTTP2ClientEvents.Event], at now: Moment) {
        var consequences = Consequences()
        for event in others {
            switch event {
            case .response(let tag, let response):
                let ticket = Ticket(rawValue: tag)
                consequences.results.append((ticket, result(of: response, to: ticket, at: now, &consequences)))
            case .reset(let tag, let code, let byPeer, let hasAnswered):
                let result = Self.result(ofReset: code, byPeer: byPeer, hasAnswered: hasAnswered)
                consequences.results.append((Ticket(rawValue: tag), result))
            case .goAway(let received):
                take(received, at: now, &consequences)
            case .settingsChanged(let streams, let headerTable):
                settingsChanged(streams: streams, headerTable: headerTable)
            case .pong:
                break
            case .connectionError(let error):
                consequences.failure = error
            }
        }
        Self.finishReading(&dialect, http)
        perform(consequences, at: now)
    }

    private static func finishReading(_ dialect: inout Dialect, _ http: HTTP2ClientSession) {
        dialect.finishReading { http.openTags.map(Ticket.init(rawValue:)) }
    }

    /// The results come first: leaving may be the connection's end, behind which nothing may come.
    private mutating func perform(_ consequences: Consequences, at now: Moment) {
        if !consequences.results.isEmpty { actions.append(.results(consequences.results)) }
        if let (cause, verdict) = consequences.farewell {
            if case .opening = phase, consequences.isUntold, let verdict {
                return fail("\(settings.endpoint): \(cause)", kind: verdict.kind, at: now)
            }
            drain(cause: cause, unsent: verdict?.result, untold: consequences.isUntold ? verdict?.result : nil, at: now)
        }
        if let failure = consequences.failure {
            fail("the service broke HTTP/2: \(failure)", kind: .temporary, at: now)
        }
    }

    /// The service takes no more requests here. What it says of streams that it has not looked at, it says of what has no
    /// stream yet, too.
    private mutating func take(_ goAway: HTTP2GoAway, at now: Moment, _ consequences: inout Consequences) {
        let verdict = dialect.judge(goAway, at: now, isRetired: isRetired)
        consequences.results += goAway.neverProcessed.map { (Ticket(rawValue: $0), verdict.result) }
        // The second of two adds the streams that it names; what it says counts only where the first said nothing.
        guard consequences.farewell == nil || verdict.hasReason else { return }
        consequences.farewell = (verdict.cause, verdict)
        consequences.isUntold = goAway.neverProcessed.isEmpty
    }

    private mutating func result(
        of response: HTTP2Response, to ticket: Ticket, at now: Moment, _ consequences: inout Consequences
    ) -> Dialect.Result {
        let verdict = dialect.judge(response, to: ticket, at: now, isRetired: isRetired)
        // Where nothing is answered for long but refusals that are not about requests, another connection may fare better.
        if let time = answers.record(verdict.standing, at: now.monotonic) {
            let seconds = time.components.seconds
            consequences.leave("all answers of \(seconds) s were refusals, the last with status \(response.status)")
        }
        if verdict.isProof { prove() }
        if let farewell = verdict.farewell { consequences.leave(farewell) }
        return verdict.result
    }

    /// A stream that was answered was processed, whatever its end is called.
    private static func result(ofReset code: HTTP2ErrorCode, byPeer: Bool, hasAnswered: Bool) -> Dialect.Result {
        guard byPeer else { return .unknown("the service's answer was malformed: \(code)") }
        if hasAnswered { return .unknown("the service began to answer, and then reset the stream: \(code)") }
        guard code == .refusedStream else { return .unknown("the service reset the stream: \(code)") }
        return .notSent("the service refused the stream: \(code)")
    }
}
