internal import Holdfast
internal import HoldfastHTTP2

/// Writes answers as Apple writes them, each with its `apns-id`, or its `apns-request-id` where it was a broadcast.
struct AnswerWriter {
    private static let deviceID = "apns-id"
    private static let broadcastID = "apns-request-id"

    private var device = Success(idName: Self.deviceID)
    private var broadcast = Success(idName: Self.broadcastID)

    /// - Returns: false when the client has reset the stream.
    mutating func accept(_ its: HTTP2IngressSession.Waiting, _ session: inout HTTP2ServerSession) -> Bool {
        let block = its.isBroadcast ? broadcast.headerBlock(its) : device.headerBlock(its)
        return session.respond(streamID: its.streamID, headerBlock: block)
    }

    /// - Parameter retryAfter: seconds.
    func refuse(
        _ its: HTTP2IngressSession.Waiting, _ answer: RefusalAnswer, retryAfter: Int?,
        _ session: inout HTTP2ServerSession
    ) {
        var headers = [
            (name: its.isBroadcast ? Self.broadcastID : Self.deviceID, value: its.idText ?? its.id.description),
            (name: "content-type", value: "application/json"),
        ]
        if let retryAfter { headers.append((name: "retry-after", value: String(retryAfter))) }
        session.respond(streamID: its.streamID, status: answer.status, headers: headers, body: answer.body)
    }
}

/// The header block of `:status: 200` and an id, whose value is at its end and is replaced for each answer.
private struct Success {
    private var block: [UInt8]
    private let idStart: Int
    private var id: [UInt8] = []

    init(idName: String) {
        let placeholder = String(repeating: "0", count: 36)
        block = HTTP2ServerSession.headerBlock(status: 200, [(idName, placeholder)])
        idStart = block.count - 36
        id.reserveCapacity(36)
    }

    mutating func headerBlock(_ its: HTTP2IngressSession.Waiting) -> [UInt8] {
        if let text = its.idText {
            var index = idStart
            for byte in text.utf8 {
                block[index] = byte
                index += 1
            }
        } else {
            id.removeAll(keepingCapacity: true)
            its.id.appendCanonical(to: &id)
            for index in id.indices { block[idStart + index] = id[index] }
        }
        return block
    }
}
