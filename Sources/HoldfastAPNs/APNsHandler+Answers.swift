internal import Holdfast
internal import HoldfastHTTP2
internal import NIOCore
internal import NIOHPACK

/// From what the session read to what the engine is told.
extension APNsHandler {
    /// Tells the engine what one cycle of reading brought.
    func report() {
        guard !events.isEmpty else { return }
        if !events.succeeded.isEmpty {
            sink(.confirmed(events.succeeded.map(Ticket.init(rawValue:))))
            if !sentWithOldToken.isEmpty { sentWithOldToken.subtract(events.succeeded) }
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
        var results: [(ticket: Ticket, result: SendResult)] = []
        var goAway: HTTP2GoAway?
        var failure: HTTP2Error?
        tokenOfCycle = token
        for event in others {
            switch event {
            case .response(let tag, let response):
                results.append((Ticket(rawValue: tag), result(of: response, tag: tag)))
            case .reset(let tag, let code, let byPeer):
                results.append((Ticket(rawValue: tag), Self.result(ofReset: code, byPeer: byPeer)))
            case .goAway(let received):
                goAway = received
                let never = SendResult(.neverProcessed(.newConnection), detail: "above GOAWAY's last stream")
                results += received.neverProcessed.map { (Ticket(rawValue: $0), never) }
            case .settingsChanged(let streams, let headerTable):
                settingsChanged(streams: streams, headerTable: headerTable)
            case .pong:
                break
            case .connectionError(let error):
                failure = error
            }
        }
        if !results.isEmpty { sink(.results(results)) }
        if let goAway { drain(cause: Self.describe(goAway)) }
        if let failure { fail("the service broke HTTP/2: \(failure)", kind: .temporary) }
    }

    private func result(of response: HTTP2Response, tag: UInt64) -> SendResult {
        let wasOld = sentWithOldToken.remove(tag) != nil
        let body = ErrorBody(response.body)
        var result = SendResult(
            apnsStatus: response.status, reason: body.reason, timestamp: body.timestamp,
            retryAfter: Self.retryAfter(response))
        if case .deferred(.credentials) = result.verdict { tokens?.holdMinting() }
        // What the old credentials are refused for says nothing of the new ones.
        if isRetired, case .laneStopped = result.verdict { result.verdict = .neverProcessed(.newConnection) }
        if case .neverProcessed(.newProviderToken) = result.verdict, !wasOld { replaceToken(&result, tag: tag) }
        if case .neverProcessed(.newConnection) = result.verdict {
            drain(cause: "the service asks for a new connection")
        }
        return result
    }

    /// The service calls our provider token expired: a new one, once. If that is expired too, the clocks disagree.
    private func replaceToken(_ result: inout SendResult, tag: UInt64) {
        guard let tokens, let token else { return stop(&result, "no signing key is configured") }
        // Another answer of this cycle has brought a new one already; this request, too, was sent with the old one.
        guard token == tokenOfCycle else { return }
        do throws(APNsConfigurationError) {
            guard let fresh = try tokens.replace(token) else {
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

    private static func retryAfter(_ response: HTTP2Response) -> Duration? {
        // NIOHPACK compares names without regard to case.
        guard let seconds = response.headers["retry-after"].first.flatMap(Int64.init), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 24 * 60 * 60))
    }

    private static func result(ofReset code: HTTP2ErrorCode, byPeer: Bool) -> SendResult {
        if byPeer, code == .refusedStream {
            return SendResult(.neverProcessed(.none), detail: "the service refused the stream")
        }
        return .unknown(
            byPeer ? "the service reset the stream: \(code)" : "the service's answer was malformed: \(code)")
    }

    private static func describe(_ goAway: HTTP2GoAway) -> String {
        let reason = ErrorBody(goAway.debugData).reason
        return "GOAWAY from the service: \(reason ?? "\(goAway.code)")"
    }
}

/// The JSON that APNs puts into the body of an error, and into a GOAWAY.
struct ErrorBody {
    /// At most 100 bytes of it are kept.
    private(set) var reason: String?
    private(set) var timestamp: WallTime?

    /// Bytes that are not such JSON have no reason.
    init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        do throws(JSONFault) {
            try read(bytes.span, in: 0..<bytes.count)
        } catch {
            // Foreign bytes. The answer is classified by its status.
        }
    }

    private mutating func read(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        var members = try JSONMembers(bytes, in: range)
        while let member = try members.next(bytes) {
            let value = member.value
            if JSONScanner.isString(bytes, in: member.name, equalTo: "reason"), value.kind == .string {
                reason = String(try JSONScanner.string(bytes, in: value.range).prefix(100))
            } else if JSONScanner.isString(bytes, in: member.name, equalTo: "timestamp"), value.kind == .number {
                timestamp = WallTime(milliseconds: try JSONScanner.integer(bytes, in: value.range))
            }
        }
    }
}
