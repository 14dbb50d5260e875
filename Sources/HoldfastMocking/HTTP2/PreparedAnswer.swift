package import HoldfastHTTP2

/// An answer that is ready to be written.
package struct PreparedAnswer {
    package enum Content {
        case response(headerBlock: [UInt8], body: [UInt8], bodyFrameByteCount: Int?)
        /// A part of a body whose head was written before.
        case body(ArraySlice<UInt8>, isLast: Bool)
        case reset(code: UInt32)
        case silence
    }

    package let streamID: UInt32
    package let content: Content
    /// Whether it is a 200.
    package var isSuccess = false
    /// The pause between the DATA frames of a body.
    package var bodyPause = Duration.zero
    /// The effects on the connection behind the answer.
    package var effects: [MockEffect] = []

    package init(streamID: UInt32, _ content: Content, isSuccess: Bool = false) {
        self.streamID = streamID
        self.content = content
        self.isSuccess = isSuccess
    }

    /// Its head, to be written now, and the parts of its body, each a pause behind the one before; nil where there are
    /// no pauses.
    package func parts() -> (head: [UInt8], body: [PreparedAnswer])? {
        guard bodyPause > .zero, case .response(let head, let body, let byteCount) = content, !body.isEmpty else {
            return nil
        }
        let size = max(1, min(body.count, byteCount ?? body.count))
        let parts = stride(from: 0, to: body.count, by: size).map { start in
            let end = min(body.count, start + size)
            var part = PreparedAnswer(streamID: streamID, .body(body[start..<end], isLast: end == body.count))
            if end == body.count { part.effects = effects }
            return part
        }
        return (head, parts)
    }

    /// Writes the answer. A stream that the client has reset meanwhile is ignored.
    ///
    /// - Parameter owesSizeUpdate: whether the next header block has to tell the client's HPACK decoder that our
    ///   dynamic table is empty; set to false once one has.
    package func write(to session: inout HTTP2ServerSession, owesSizeUpdate: inout Bool) {
        switch content {
        case .response(let headerBlock, let body, let bodyFrameByteCount):
            let isWritten = session.sendHeaders(
                streamID: streamID, headerBlock: owesSizeUpdate ? [0x20] + headerBlock : headerBlock,
                endStream: body.isEmpty)
            guard isWritten else { break }
            owesSizeUpdate = false
            writeBody(body, inFramesOf: max(1, bodyFrameByteCount ?? body.count), to: &session)
        case .body(let part, let isLast):
            session.sendData(streamID: streamID, Array(part), endStream: isLast)
        case .reset(let code):
            session.reset(streamID: streamID, code: HTTP2ErrorCode(rawValue: code))
        case .silence:
            break
        }
    }

    private func writeBody(_ body: [UInt8], inFramesOf byteCount: Int, to session: inout HTTP2ServerSession) {
        for start in stride(from: 0, to: body.count, by: byteCount) {
            let end = min(body.count, start + min(byteCount, body.count))
            session.sendData(streamID: streamID, Array(body[start..<end]), endStream: end == body.count)
        }
    }

    /// The body of a refusal, as Apple writes it.
    package static func body(of rejection: MockRejection, defaultTimestamp: Int64) -> [UInt8] {
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
