internal import Holdfast
internal import HoldfastHTTP2

/// Writes answers as the service writes them: as Apple, each with its `apns-id`, or its `apns-request-id` where it was a
/// broadcast; as Google, with the message's name. Requests that say when to answer them, or whose listener does, are told with
/// `holdfast-outcome` what their answer means.
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
        if case .message(let project) = its.form { return acceptMessage(its, word, project, &session) }
        let isBroadcast = its.form == .broadcast
        switch word {
        case _ where its.answering == nil && isBroadcast: block = broadcast.headerBlock(its)
        case _ where its.answering == nil: block = device.headerBlock(its)
        case .confirmed where !isBroadcast && uniqueID == nil: block = confirmed.headerBlock(its)
        case .accepted where !isBroadcast: block = accepted.headerBlock(its)
        default: block = HTTP2ServerSession.headerBlock(status: 200, Self.headers(its, word, uniqueID))
        }
        return session.respond(streamID: its.streamID, headerBlock: block)
    }

    private func acceptMessage(
        _ its: HTTP2IngressSession.Waiting, _ word: OutcomeWord, _ project: String, _ session: inout HTTP2ServerSession
    ) -> Bool {
        session.respond(
            streamID: its.streamID, status: 200,
            headers: Self.headers(its, word, nil) + [(name: "content-type", value: its.form.contentType)],
            body: Self.name(of: "\(its.id)", in: project))
    }

    /// Answers a message that was only checked, with the name that Google gives it.
    func validated(_ its: HTTP2IngressSession.Waiting, _ project: String, _ session: inout HTTP2ServerSession) {
        session.respond(
            streamID: its.streamID, status: 200, headers: [(name: "content-type", value: its.form.contentType)],
            body: Self.name(of: "fake_message_id", in: project))
    }

    /// - Parameter id: the notification's, or Google's word for a message that was only checked.
    private static func name(of id: String, in project: String) -> [UInt8] {
        Array(#"{"name":"projects/\#(project)/messages/\#(id)"}"#.utf8)
    }

    /// - Parameter retryAfter: seconds.
    /// - Returns: false when the client has reset the stream.
    @discardableResult
    func refuse(
        _ its: HTTP2IngressSession.Waiting, _ answer: RefusalAnswer, _ word: OutcomeWord, retryAfter: Int? = nil,
        uniqueID: String? = nil, _ session: inout HTTP2ServerSession
    ) -> Bool {
        var headers = Self.headers(its, word, uniqueID) + [(name: "content-type", value: its.form.contentType)]
        if let retryAfter { headers.append((name: "retry-after", value: String(retryAfter))) }
        return session.respond(streamID: its.streamID, status: answer.status, headers: headers, body: answer.body)
    }

    private static func headers(
        _ its: HTTP2IngressSession.Waiting, _ word: OutcomeWord, _ uniqueID: String?
    ) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        switch its.form {
        case .device: headers.append((Self.deviceID, its.idText ?? its.id.description))
        case .broadcast: headers.append((Self.broadcastID, its.idText ?? its.id.description))
        // Its id is in its name.
        case .message: break
        }
        if its.answering != nil { headers.append((name: Self.outcome, value: word.rawValue)) }
        if let uniqueID { headers.append((name: "apns-unique-id", value: uniqueID)) }
        return headers
    }
}

extension AnswerForm {
    /// Of a body.
    fileprivate var contentType: String {
        if case .message = self { "application/json; charset=UTF-8" } else { "application/json" }
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
