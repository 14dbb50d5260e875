import HoldfastHTTP2

/// An answer that only has to be written.
struct PreparedAnswer {
    enum Content {
        case response(headerBlock: [UInt8], body: [UInt8], bodyFrameByteCount: Int?)
        case reset(code: UInt32)
        case silence
    }

    let streamID: UInt32
    let content: Content
    var maxConcurrentStreams: Int?
    var ending: MockAnswer.Ending?

    init(streamID: UInt32, _ content: Content) {
        self.streamID = streamID
        self.content = content
    }

    /// Writes it. A stream that the client has reset meanwhile is no matter.
    func write(to session: inout HTTP2ServerSession) {
        switch content {
        case .response(let headerBlock, let body, nil):
            session.respond(streamID: streamID, headerBlock: headerBlock, body: body)
        case .response(let headerBlock, let body, let frameByteCount?):
            guard session.sendHeaders(streamID: streamID, headerBlock: headerBlock, endStream: body.isEmpty) else { break }
            for start in stride(from: 0, to: body.count, by: max(1, frameByteCount)) {
                let end = min(start + max(1, frameByteCount), body.count)
                session.sendData(streamID: streamID, Array(body[start..<end]), endStream: end == body.count)
            }
        case .reset(let code):
            session.reset(streamID: streamID, code: HTTP2ErrorCode(rawValue: code))
        case .silence:
            break
        }
        if let maxConcurrentStreams { session.changeSettings(maxConcurrentStreams: maxConcurrentStreams) }
    }

    /// The body of a refusal, as Apple writes it.
    static func body(of rejection: MockRejection, defaultTimestamp: Int64) -> [UInt8] {
        var body = Array(#"{"reason":""#.utf8)
        body.appendJSONText(rejection.reason)
        body.append(UInt8(ascii: "\""))
        if let timestamp = rejection.timestamp ?? (rejection.status == 410 ? defaultTimestamp : nil) {
            body.append(contentsOf: #","timestamp":\#(timestamp)"#.utf8)
        }
        body.append(UInt8(ascii: "}"))
        return body
    }
}
