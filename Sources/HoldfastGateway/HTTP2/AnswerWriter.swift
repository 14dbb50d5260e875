internal import Holdfast
internal import HoldfastHTTP2

/// Writes answers as Apple writes them, each with its `apns-id`.
struct AnswerWriter {
    /// `:status: 200` and `apns-id`, whose value is at its end and is exchanged for each answer.
    private var accepted: [UInt8]
    private let idStart: Int
    private var id: [UInt8] = []

    init() {
        let placeholder = String(repeating: "0", count: 36)
        accepted = HTTP2ServerSession.headerBlock(status: 200, [("apns-id", placeholder)])
        idStart = accepted.count - 36
        id.reserveCapacity(36)
    }

    /// - Returns: false when the client has given the request up.
    mutating func accept(_ its: RequestDesk.Waiting, _ session: inout HTTP2ServerSession) -> Bool {
        if let text = its.idText {
            var index = idStart
            for byte in text.utf8 {
                accepted[index] = byte
                index += 1
            }
        } else {
            id.removeAll(keepingCapacity: true)
            its.id.appendCanonical(to: &id)
            for index in id.indices { accepted[idStart + index] = id[index] }
        }
        return session.respond(streamID: its.streamID, headerBlock: accepted)
    }

    /// - Parameter retryAfter: seconds.
    func refuse(
        _ its: RequestDesk.Waiting, _ answer: RefusalAnswer, retryAfter: Int?, _ session: inout HTTP2ServerSession
    ) {
        var headers = [
            (name: "apns-id", value: its.idText ?? its.id.description),
            (name: "content-type", value: "application/json"),
        ]
        if let retryAfter { headers.append((name: "retry-after", value: String(retryAfter))) }
        session.respond(streamID: its.streamID, status: answer.status, headers: headers, body: answer.body)
    }
}
