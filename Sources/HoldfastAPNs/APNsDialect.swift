internal import Holdfast
internal import HoldfastAPNsAnswers
internal import HoldfastHTTP2
internal import HoldfastRequests
internal import HoldfastTransport

/// Requests to APNs and the meaning of its answers, for one connection.
struct APNsDialect: RequestDialect {
    typealias Batch = HandOut
    typealias Result = SendResult

    private let tokens: ProviderTokenSource?
    private var headers: RequestHeaders
    /// The token of the last request.
    private var token: ProviderTokenSource.Token?
    /// Whether an answer of the read at hand has brought another token.
    private var hasReplacedToken = false
    /// Requests that were sent with a token that has since been replaced.
    private var sentWithOldToken: Set<Ticket> = []

    /// - Parameters:
    ///   - tokens: shared by all connections of the key; nil without provider tokens.
    ///   - via: the value of `via`, by which gateways know one another; nil for none.
    init(_ endpoint: APNsEndpoint, tokens: ProviderTokenSource?, via: String? = nil) {
        self.tokens = tokens
        headers = RequestHeaders(authority: endpoint.authority, isCleartext: endpoint.isCleartext, via: via)
    }

    /// Apple allows a connection with provider tokens one stream until a request has been taken with one.
    var startsAlone: Bool { tokens != nil }

    // MARK: Requests

    mutating func authorize(at now: Moment) throws(ConnectError) {
        guard let tokens else { return }
        do throws(APNsConfigurationError) {
            let current = try tokens.current()
            if current != token { use(current) }
        } catch {
            throw ConnectError(.configuration, error.message)
        }
    }

    private mutating func use(_ current: ProviderTokenSource.Token) {
        token = current
        headers.setAuthorization(current.authorization)
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
                writer.write(ticket, body: bytes, in: fields.payload) { headers.append(fields, of: bytes, to: &$0) }
            } catch {
                writer.refuse(ticket, "the entry can't be read: \(error)")
            }
            item += 1
        }
        return item
    }

    // MARK: Answers

    mutating func confirmed(_ tickets: [Ticket]) {
        if !sentWithOldToken.isEmpty { sentWithOldToken.subtract(tickets) }
    }

    mutating func judge(
        _ response: HTTP2Response, to ticket: Ticket, at now: Moment, isRetired: Bool
    ) -> AnswerVerdict<SendResult> {
        let wasOld = sentWithOldToken.remove(ticket) != nil
        let body = ErrorBody(response.body)
        var result = SendResult(
            apnsStatus: response.status, reason: body.reason, timestamp: body.timestamp,
            retryAfter: response.retryAfter(at: now.wall))
        // Only Apple's sandbox sends it. Elsewhere the header fields of successes are not decoded.
        result.uniqueID = response.headers.first(name: "apns-unique-id").flatMap(NotificationID.init)?.description
        result.look(at: response)
        var verdict = AnswerVerdict(
            result, result.verdict == .foreign ? .refused : AnswerRecord.Standing(status: response.status))
        verdict.isProof = result.verdict == .confirmed
        heed(&result, isRetired: isRetired)
        if case .laneStopped(.credentials) = result.verdict, !wasOld, let token { tokens?.refused(token) }
        if case .neverProcessed(.newProviderToken) = result.verdict, !wasOld { replaceToken(&result) }
        if case .neverProcessed(.newConnection) = result.verdict {
            verdict.farewell =
                "the service asks for a new connection: \(body.reason ?? "status \(response.status)")"
        }
        verdict.result = result
        return verdict
    }

    mutating func judge(_ goAway: HTTP2GoAway, at now: Moment, isRetired: Bool) -> GoAwayVerdict<SendResult> {
        let reason = ErrorBody(goAway.debugData).reason
        let cause = "GOAWAY from the service: \(reason.map { Reason(apns: $0).words } ?? "\(goAway.code)")"
        var result = GoAwayReason.result(reason, detail: cause)
        if result.reason == .expiredProviderToken { replaceTokenAfterGoAway(&result) }
        heed(&result, isRetired: isRetired)
        var verdict = GoAwayVerdict(result, cause: cause, hasReason: reason != nil)
        if case .laneStopped = result.verdict { verdict.kind = .configuration }
        return verdict
    }

    mutating func finishReading(open: () -> [Ticket]) {
        guard hasReplacedToken else { return }
        hasReplacedToken = false
        sentWithOldToken.formUnion(open())
    }

    // MARK: Provider tokens

    /// Applies the result to the credentials, and the other way round.
    private func heed(_ result: inout SendResult, isRetired: Bool) {
        if case .deferred(.credentials) = result.verdict { tokens?.holdMinting() }
        result.excuse(isRetired: isRetired)
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
    private mutating func replaceToken(_ result: inout SendResult) {
        guard let tokens, let token else { return stop(&result, "no signing key is configured") }
        // Another answer of this read has brought a new one already; this request, too, was sent with the old one.
        guard !hasReplacedToken else { return }
        do throws(APNsConfigurationError) {
            guard let fresh = try tokens.replace(token) else {
                tokens.refused(token)
                return stop(&result, "a provider token made just now is called expired: check this machine's clock")
            }
            hasReplacedToken = true
            use(fresh)
        } catch {
            stop(&result, error.message)
        }
    }

    private func stop(_ result: inout SendResult, _ why: String) {
        result.verdict = .laneStopped(.credentials)
        result.detail = why
    }
}
