internal import Holdfast
internal import HoldfastHTTP2

/// Writes answers as Apple writes them, each with its `apns-id`, or its `apns-request-id` where it was a broadcast. Requests
/// that say when to answer them, or whose listener does, are told with `holdfast-outcome` what their answer means.
struct AnswerWriter {
    private static let deviceID = "apns-id"
    private static let broadcastID = "apns-request-id"
    private static let outcome = "holdfast-outcome"

    private var device = Success(idName: Self.deviceID)
    private var broadcast = Success(idName: Self.broadcastID)
    /// The usual answers to devices' notifications that say their outcome.
    private var confirmed = Success(idName: Self.deviceID, [(Self.outcome, OutcomeWord.confirmed.rawValue)])
    private var accepted = Success(idName: Self.deviceID, [(Self.outcome, OutcomeWord.accepted.rawValue)])

    /// Answers 200.
    ///
    /// - Returns: false when the client has reset the stream.
    mutating func accept(
        _ its: HTTP2IngressSession.Waiting, _ word: OutcomeWord, uniqueID: String? = nil,
        _ session: inout HTTP2ServerSession
    ) -> Bool {
        let block: [UInt8]
        switch word {
        case _ where its.answering == nil && its.isBroadcast: block = broadcast.headerBlock(its)
        case _ where its.answering == nil: block = device.headerBlock(its)
        case .confirmed where !its.isBroadcast && uniqueID == nil: block = confirmed.headerBlock(its)
        case .accepted where !its.isBroadcast: block = accepted.headerBlock(its)
        default: block = HTTP2ServerSession.headerBlock(status: 200, Self.headers(its, word, uniqueID))
        }
        return session.respond(streamID: its.streamID, headerBlock: block)
    }

    /// - Parameter retryAfter: seconds.
    /// - Returns: false when the client has reset the stream.
    @discardableResult
    func refuse(
        _ its: HTTP2IngressSession.Waiting, _ answer: RefusalAnswer, _ word: OutcomeWord, retryAfter: Int? = nil,
        uniqueID: String? = nil, _ session: inout HTTP2ServerSession
    ) -> Bool {
        var headers = Self.headers(its, word, uniqueID) + [(name: "content-type", value: "application/json")]
        if let retryAfter { headers.append((name: "retry-after", value: String(retryAfter))) }
        return session.respond(streamID: its.streamID, status: answer.status, headers: headers, body: answer.body)
    }

    private static func headers(
        _ its: HTTP2IngressSession.Waiting, _ word: OutcomeWord, _ uniqueID: String?
    ) -> [(name: String, value: String)] {
        var headers = [
            (name: its.isBroadcast ? Self.broadcastID : Self.deviceID, value: its.idText ?? its.id.description)
        ]
        if its.answering != nil { headers.append((name: Self.outcome, value: word.rawValue)) }
        if let uniqueID { headers.append((name: "apns-unique-id", value: uniqueID)) }
        return headers
    }
}

/// The header block of `:status: 200` and an id, whose value is at its end and is replaced for each answer.
private struct Success {
    private var block: [UInt8]
    private let idStart: Int
    private var id: [UInt8] = []

    /// - Parameter others: header fields before the id.
    init(idName: String, _ others: [(name: String, value: String)] = []) {
        let placeholder = String(repeating: "0", count: 36)
        block = HTTP2ServerSession.headerBlock(status: 200, others + [(idName, placeholder)])
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
