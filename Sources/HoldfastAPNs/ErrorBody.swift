internal import Holdfast
internal import HoldfastAPNsAnswers

/// The JSON that APNs puts into the body of an error, and into a GOAWAY.
package struct ErrorBody {
    /// A word, or `other`: see ``Reason/init(said:)``.
    package private(set) var reason: String?
    private(set) var timestamp: WallTime?

    /// Bytes that are not such JSON, whole and with nothing behind it, have no reason: what a proxy has cut off or added to
    /// is not the service's word.
    package init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        do throws(JSONFault) {
            try read(bytes.span, in: 0..<bytes.count)
        } catch {
            // Foreign bytes. The answer is classified by its status.
            (reason, timestamp) = (nil, nil)
        }
    }

    /// Whether the bytes are one JSON object.
    static func isObject(_ bytes: [UInt8]) -> Bool {
        var body = ErrorBody([])
        do throws(JSONFault) {
            try body.read(bytes.span, in: 0..<bytes.count)
            return true
        } catch {
            return false
        }
    }

    private mutating func read(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        var members = try JSONMembers(bytes, in: range)
        while let member = try members.next(bytes) {
            let value = member.value
            if JSONScanner.isString(bytes, in: member.name, equalTo: "reason"), value.kind == .string {
                let text = try JSONScanner.string(bytes, in: value.range)
                reason = text.isEmpty ? nil : Reason(apns: text).rawValue
            } else if JSONScanner.isString(bytes, in: member.name, equalTo: "timestamp"), value.kind == .number {
                timestamp = WallTime(milliseconds: try JSONScanner.integer(bytes, in: value.range))
            }
        }
    }
}
