internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastAPNsAnswers
internal import HoldfastHTTP2
internal import HoldfastRequests
internal import HoldfastTransport

/// A request to the management service, with what it is authorized by and the ticket it is answered by.
struct ManagementCall: TicketBatch {
    let request: ChannelRequest
    let authorization: [UInt8]?
    let ticket: Ticket

    var count: Int { 1 }
    func ticket(at item: Int) -> Ticket { ticket }
}

extension ChannelAttempts.Ending: RequestResult {
    static func notSent(_ detail: String) -> ChannelAttempts.Ending { .neverSent(detail, isLasting: false) }
    static func notSentHere(_ detail: String) -> ChannelAttempts.Ending { .notSent(detail) }
}

/// Requests to the management service. Answers are taken as they come: ``ChannelAttempts`` judges them.
struct ManagementDialect: RequestDialect {
    typealias Batch = ManagementCall
    typealias Result = ChannelAttempts.Ending

    let endpoint: APNsEndpoint
    /// The service's table is smaller than it was, and the next header block is to say that we know.
    private var owesSizeUpdate = false

    init(_ endpoint: APNsEndpoint) { self.endpoint = endpoint }

    var startsAlone: Bool { false }

    /// Each request brings its own authorization.
    mutating func authorize(at now: Moment) throws(ConnectError) {}

    mutating func setHeaderTableSize(_ size: Int) { if size < 4096 { owesSizeUpdate = true } }

    mutating func write(_ call: borrowing ManagementCall, from first: Int, to writer: inout RequestWriter) -> Int {
        guard writer.takesRequest() else { return first }
        let (request, authorization, body) = (call.request, call.authorization, call.request.body)
        writer.write(call.ticket, body: body, in: body.indices) { block in
            if owesSizeUpdate { HPACKWriter.appendSizeUpdate(0, to: &block) }
            owesSizeUpdate = false
            block += request.headerBlock(
                authority: endpoint.authority, isCleartext: endpoint.isCleartext, authorization: authorization)
        }
        return 1
    }

    /// Successes are decoded, so there are none that are told by their tickets alone.
    mutating func confirmed(_ tickets: [Ticket]) {}

    mutating func judge(
        _ response: HTTP2Response, to ticket: Ticket, at now: Moment, isRetired: Bool
    ) -> AnswerVerdict<ChannelAttempts.Ending> {
        AnswerVerdict(.answered(response), AnswerRecord.Standing(status: response.status))
    }

    mutating func judge(
        _ goAway: HTTP2GoAway, at now: Moment, isRetired: Bool
    ) -> GoAwayVerdict<ChannelAttempts.Ending> {
        let reason = ErrorBody(goAway.debugData).reason
        let said = reason.map { Reason(apns: $0).words } ?? "\(goAway.code)"
        let cause = "the service takes no more requests on this connection: \(said)"
        return GoAwayVerdict(.notSent(cause), cause: cause, hasReason: reason != nil)
    }

    mutating func finishReading(open: () -> [Ticket]) {}
}
