import Holdfast
import HoldfastHTTP2
import HoldfastRequests
import HoldfastTransport

/// A service that is not Apple's: JSON is POSTed to `/send`; 200 with a body takes it, 429 puts it off, 401 wants another
/// key. The key changes every hour.
struct PostDialect: RequestDialect {
    typealias Batch = HandOut
    typealias Result = SendResult

    private enum Name {
        static let authority = 0
        static let contentType = 1
        static let key = 2
        static let all = [
            HeaderTable.Name(":authority", staticIndex: HPACKStaticIndex.authority),
            HeaderTable.Name("content-type", staticIndex: HPACKStaticIndex.contentType), HeaderTable.Name("x-key"),
        ]
    }

    private var table = HeaderTable(Name.all)
    private var key: [UInt8] = []
    var startsAlone = false
    /// Why there is no key.
    var fault: ConnectError?
    /// Tickets whose entry can't be read.
    var unreadable: Set<Ticket> = []

    mutating func authorize(at now: Moment) throws(ConnectError) {
        if let fault { throw fault }
        key = Array("hour-\(now.wall.seconds / 3600)".utf8)
    }

    mutating func setHeaderTableSize(_ size: Int) { table.setPeerSize(size) }

    mutating func write(_ handOut: borrowing HandOut, from first: Int, to writer: inout RequestWriter) -> Int {
        let (entries, tickets) = (handOut.entries, handOut.tickets)
        var item = first
        while item < tickets.count, writer.takesRequest() {
            let ticket = tickets[item]
            if let fields = try? entries.fields(at: item), !unreadable.contains(ticket) {
                writer.write(ticket, body: entries.bytes, in: fields.payload) { appendHeaders(to: &$0) }
            } else {
                writer.refuse(ticket, "the entry can't be read")
            }
            item += 1
        }
        return item
    }

    private mutating func appendHeaders(to block: inout [UInt8]) {
        table.begin(&block)
        HPACKWriter.appendIndexed(HPACKStaticIndex.methodPost, to: &block)
        HPACKWriter.appendIndexed(HPACKStaticIndex.schemeHTTPS, to: &block)
        HPACKWriter.appendLiteral(
            nameIndex: HPACKStaticIndex.path, value: "/send".utf8, indexing: .without, to: &block)
        table.appendField(Name.authority, Array("push.example".utf8)[...], to: &block)
        table.appendField(Name.contentType, Array("application/json".utf8)[...], to: &block)
        table.appendField(Name.key, key[...], to: &block)
    }

    mutating func confirmed(_ tickets: [Ticket]) {}

    mutating func judge(
        _ response: HTTP2Response, to ticket: Ticket, at now: Moment, isRetired: Bool
    ) -> AnswerVerdict<SendResult> {
        let verdict: SendResult.Verdict =
            switch response.status {
            case 200: .confirmed
            case 429: .deferred(.service)
            case 401: .laneStopped(.credentials)
            case 500...: .deferred(.service)
            default: .rejected(.notification)
            }
        var result = SendResult(
            verdict, status: response.status, retryAfter: response.retryAfter(at: now.wall),
            detail: response.isTruncated ? "cut" : String(decoding: response.body, as: UTF8.self))
        result.excuse(isRetired: isRetired)
        var answer = AnswerVerdict(result, AnswerRecord.Standing(status: response.status))
        answer.isProof = response.status == 200
        return answer
    }

    mutating func judge(_ goAway: HTTP2GoAway, at now: Moment, isRetired: Bool) -> GoAwayVerdict<SendResult> {
        let text = String(decoding: goAway.debugData, as: UTF8.self)
        var result = SendResult.notSentHere("GOAWAY \(text)")
        if text == "locked out" { result.verdict = .laneStopped(.credentials) }
        return GoAwayVerdict(result, cause: "GOAWAY \(text)", hasReason: !text.isEmpty)
    }

    mutating func finishReading(open: () -> [Ticket]) {}
}

extension RequestSettings {
    static let sample = RequestSettings(
        endpoint: "https://push.example", sendDeadline: .seconds(30), pingAfter: .seconds(20),
        pingDeadline: .seconds(10), idleClose: .seconds(600), maximumStreams: 1000)
}
