internal import Holdfast

/// Keeps the `ttl` of a message's `android` and `androidV2` parts true at each attempt.
enum MessageTimeToLive {
    private static let mark = Array(#""android"#.utf8)

    /// Whether the message may have such a part. One without these bytes, and without an escape that could write them, is not
    /// looked at more closely.
    private static func mayHaveAndroid(_ span: Span<UInt8>, in range: Range<Int>) -> Bool {
        var matched = 0
        for index in range {
            let byte = span[index]
            if byte == UInt8(ascii: "\\"), index + 1 < range.upperBound, span[index + 1] == UInt8(ascii: "u") {
                return true
            }
            // Its first byte does not come again in it.
            matched = byte == mark[matched] ? matched + 1 : byte == mark[0] ? 1 : 0
            if matched == mark.count { return true }
        }
        return false
    }

    /// - Parameter seconds: the time that is left. A part's own shorter `ttl` stays.
    /// - Returns: the changes; nil where the message has no such part.
    static func edits(to seconds: Int64, _ bytes: [UInt8], in range: Range<Int>) -> [MessageEdit]? {
        guard mayHaveAndroid(bytes.span, in: range) else { return nil }
        let span = bytes.span
        do throws(JSONFault) {
            var edits: [MessageEdit]?
            var members = try JSONMembers(span, in: range)
            while let member = try members.next(span) {
                guard
                    JSONScanner.isString(span, in: member.name, equalTo: "android")
                        || JSONScanner.isString(span, in: member.name, equalTo: "androidV2")
                else { continue }
                edits = (edits ?? []) + [try edit(member.value, to: seconds, span)].compactMap(\.self)
            }
            return edits
        } catch {
            // It was checked when it was accepted. The service judges it.
            return []
        }
    }

    private static func edit(
        _ part: JSONValue, to seconds: Int64, _ span: Span<UInt8>
    ) throws(JSONFault) -> MessageEdit? {
        // Null is as good as none; anything else that is no object the service judges.
        if part.kind == .null { return MessageEdit(range: part.range, bytes: Array(#"{"ttl":"\#(seconds)s"}"#.utf8)) }
        guard part.kind == .object else { return nil }
        var isEmpty = true
        var own: JSONValue?
        var members = try JSONMembers(span, in: part.range)
        while let member = try members.next(span) {
            isEmpty = false
            if JSONScanner.isString(span, in: member.name, equalTo: "ttl") { own = member.value }
        }
        guard let own else {
            let start = part.range.lowerBound + 1
            let inserted = #""ttl":"\#(seconds)s"\#(isEmpty ? "" : ",")"#
            return MessageEdit(range: start..<start, bytes: Array(inserted.utf8))
        }
        switch own.kind {
        case .null: break
        case .string:
            guard let stated = FCMMessageParts.seconds(try JSONScanner.string(span, in: own.range)), stated > seconds
            else { return nil }
        default: return nil
        }
        return MessageEdit(range: own.range, bytes: Array("\"\(seconds)s\"".utf8))
    }
}
