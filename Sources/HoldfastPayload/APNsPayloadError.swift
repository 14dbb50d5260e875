/// Why a payload can't be made: which part, and what is wrong with it. Holds nothing of what is in the payload.
public struct APNsPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// It has this many bytes, and the limit is that.
        case tooLarge(bytes: Int, limit: Int)
        /// A value that JSON cannot hold, such as NaN, or that its type did not encode.
        case notJSON
        /// A name that belongs to Apple, or a value that is out of its range.
        case invalid
    }

    public let kind: Kind
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static func tooLarge(_ bytes: Int, limit: Int, _ more: String = "") -> APNsPayloadError {
        APNsPayloadError(
            .tooLarge(bytes: bytes, limit: limit), "the payload has \(bytes) bytes; \(limit) is the limit\(more)")
    }

    public var description: String { message }
}
