internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastRequests

/// Requests to FCM and the meaning of its answers, for one connection.
struct FCMDialect: RequestDialect {
    typealias Batch = HandOut
    typealias Result = SendResult

    private let tokens: AccessTokenSource?
    private let body: MessageBody
    private var headers: FCMHeaders
    /// The token of the last request.
    private var token: AccessToken?
    /// When the token was replaced by another, by the monotonic clock.
    private var switchedAt: Duration?
    /// Whether a request with the token was taken.
    private var isProven = false
    /// The time of the requests that are written next.
    private var wall = WallTime(milliseconds: 0)
    private var scratch: [UInt8] = []

    /// For so long behind a change of tokens an answer may be about the former one.
    private let answerTime: Duration

    /// - Parameters:
    ///   - tokens: shared by all connections of the account; nil without access tokens.
    ///   - via: the value of `via`, by which gateways know one another; nil for none.
    init(_ configuration: FCMConnector.Configuration, tokens: AccessTokenSource?, via: String? = nil) {
        self.tokens = tokens
        body = MessageBody(validatesOnly: configuration.validatesOnly, idKey: configuration.idKey)
        headers = FCMHeaders(
            project: configuration.project, authority: configuration.endpoint.authority,
            isCleartext: configuration.endpoint.isCleartext, via: via)
        answerTime = configuration.sendDeadline + .seconds(1)
    }

    var startsAlone: Bool { false }

    // MARK: Requests

    mutating func authorize(at now: Moment) throws(ConnectError) {
        wall = now.wall
        guard let tokens else { return }
        do throws(ConnectError) {
            let current = try tokens.current()
            guard current.text != token?.text else { return }
            if token != nil { switchedAt = now.monotonic }
            (token, isProven) = (current, false)
            headers.setAuthorization(current.authorization)
        } catch {
            // With a token that is of no use any more, requests are refused, and so are known not to be processed. To end the
            // connection would leave those that are open without an answer.
            guard token != nil else { throw error }
        }
    }

    mutating func setHeaderTableSize(_ size: Int) { headers.setPeerTableSize(size) }

    mutating func write(_ handOut: borrowing HandOut, from first: Int, to writer: inout RequestWriter) -> Int {
        let (entries, tickets) = (handOut.entries, handOut.tickets)
        let bytes = entries.bytes
        var item = first
        while item < tickets.count, writer.takesRequest() {
            let ticket = tickets[item]
            do throws(PackedNotification.Damage) {
                let fields = try entries.fields(at: item)
                scratch.removeAll(keepingCapacity: true)
                if body.append(fields, of: bytes, at: wall, to: &scratch) {
                    writer.write(ticket, body: scratch, in: 0..<scratch.count) { headers.append(to: &$0) }
                } else {
                    writer.refuse(ticket, "the entry is no message of FCM")
                }
            } catch {
                writer.refuse(ticket, "the entry can't be read: \(error)")
            }
            item += 1
        }
        return item
    }

    // MARK: Answers

    mutating func confirmed(_ tickets: [Ticket]) { prove() }

    mutating func judge(
        _ response: HTTP2Response, to ticket: Ticket, at now: Moment, isRetired: Bool
    ) -> AnswerVerdict<SendResult> {
        if response.status == 200, FCMAnswer.isSuccess(response.body) {
            prove()
            var verdict = AnswerVerdict(SendResult.confirmed, .answered)
            verdict.isProof = true
            return verdict
        }
        var result = SendResult(fcm: FCMAnswer(response, at: now.wall))
        // FCM's successes have a body with the message's name. Any other is a portal's or a proxy's.
        if result.verdict == .confirmed { result.verdict = .foreign }
        if result.verdict == .foreign { result.detail = response.sender }
        var verdict = AnswerVerdict(result, Self.standing(of: result, response.status))
        if case .neverProcessed(.newProviderToken) = result.verdict {
            verdict.farewell = replaceToken(&result, at: now, isRetired: isRetired)
        }
        result.excuse(isRetired: isRetired)
        verdict.result = result
        return verdict
    }

    /// Statuses that would speak of the connection speak of the notification where Google's word does.
    private static func standing(of result: SendResult, _ status: Int) -> AnswerRecord.Standing {
        switch result.verdict {
        case .foreign: .refused
        case .rejected, .deferred(.token): .answered
        default: AnswerRecord.Standing(status: status)
        }
    }

    mutating func judge(_ goAway: HTTP2GoAway, at now: Moment, isRetired: Bool) -> GoAwayVerdict<SendResult> {
        let cause = "GOAWAY from the service: \(goAway.code)"
        return GoAwayVerdict(
            SendResult(.neverProcessed(.newConnection), detail: cause), cause: cause, hasReason: false)
    }

    mutating func finishReading(open: () -> [Ticket]) {}

    // MARK: Access tokens

    private mutating func prove() {
        guard !isProven else { return }
        isProven = true
        if let token { tokens?.accepted(token) }
    }

    /// The service does not take our access token. Another is fetched, once; a new connection waits for it.
    ///
    /// - Returns: why this connection takes nothing more; nil when it may.
    private func replaceToken(_ result: inout SendResult, at now: Moment, isRetired: Bool) -> String? {
        let farewell = "the service refuses the access token, and another is fetched"
        result.verdict = .neverProcessed(.newConnection)
        // An answer to a request with the former token says nothing of the one in use.
        if isRetired || switchedAt.map({ now.monotonic - $0 < answerTime }) ?? false { return farewell }
        guard let tokens, let token else {
            stop(&result, "the service wants an access token, and none is configured")
            return nil
        }
        switch tokens.refused(token) {
        case .replaced: return farewell
        case .final:
            stop(
                &result,
                "an access token that was fetched just now is refused: see whether the account may send for the project"
            )
            return nil
        }
    }

    private func stop(_ result: inout SendResult, _ why: String) {
        result.verdict = .laneStopped(.credentials)
        result.detail = why
    }
}
