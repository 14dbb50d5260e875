import HoldfastMocking

/// One line of the ledger: `{"apns-id":"…","token":"…","topic":"…"}` and a line end; the token in lower case. A
/// broadcast's line has `channel` in place of `token`, and its `apns-request-id` as `apns-id`.
///
/// The last line is kept: the next one mostly differs only in id and token, which are overwritten.
struct LedgerLine {
    private var bytes: [UInt8] = []
    private var topic = ""
    private var tokenRange = 0..<0

    private static let idStart = Array(#"{"apns-id":""#.utf8).count

    /// Appends the line to `lines`.
    ///
    /// - Parameter path: the request's; its token stands behind ``RequestFields/pathPrefix``.
    mutating func append(id: NotificationIDText, path: String, topic: String, to lines: inout [UInt8]) {
        let digits = path.utf8Span.span
        let start = min(digits.count, RequestFields.pathPrefix.utf8.count)
        let token = digits.extracting(start..<digits.count)
        // Text that is no token (accepted only by a behavior) is a JSON string like any other.
        guard ASCII.areHexDigits(token) else {
            let text = String(decoding: token.indices.map { token[$0] }, as: UTF8.self)
            lines += Self.line(id, "token", text, topic).bytes
            return
        }
        if token.count != tokenRange.count || topic != self.topic || bytes.isEmpty {
            let placeholder = String(repeating: "0", count: token.count)
            (bytes, tokenRange) = Self.line(id, "token", placeholder, topic)
            self.topic = topic
        }
        for index in id.bytes.indices { bytes[Self.idStart + index] = id.bytes[index] }
        // This bit makes letters lower case; digits have it anyway.
        for index in token.indices { bytes[tokenRange.lowerBound + index] = token[index] | 0x20 }
        lines.append(contentsOf: bytes)
    }

    /// Appends the line of a broadcast to `lines`.
    static func append(id: NotificationIDText, channel: String, topic: String, to lines: inout [UInt8]) {
        lines += line(id, "channel", channel, topic).bytes
    }

    private static func line(
        _ id: NotificationIDText, _ recipientKind: String, _ recipient: String, _ topic: String
    ) -> (bytes: [UInt8], recipientRange: Range<Int>) {
        var line = Array(#"{"apns-id":""#.utf8)
        line += id.bytes
        line += Array(#"","\#(recipientKind)":""#.utf8)
        let start = line.count
        line.appendJSONText(recipient)
        let range = start..<line.count
        line += Array(#"","topic":""#.utf8)
        line.appendJSONText(topic)
        line += Array("\"}\n".utf8)
        return (line, range)
    }
}
