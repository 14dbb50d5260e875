/// The reason why a payload can't be encoded: the part concerned, and the fault. Holds no content of the payload.
public struct APNsPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault. Closed, because a caller has one choice to make: an oversized payload can be shortened
    /// (``APNsPayload/shortened(to:ending:)``), every other fault is a mistake in the program.
    public enum Kind: Hashable, Sendable {
        /// The payload has more bytes than the limit.
        case tooLarge(bytes: Int, limit: Int)
        /// A value that JSON cannot hold, such as NaN, or that its type did not encode.
        case notJSON
        /// A name that belongs to Apple, or a value that is out of its range.
        case invalid
    }

    /// The kind of fault, to decide by.
    public let kind: Kind
    /// The fault in words, for developers.
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static func tooLarge(_ bytes: Int, limit: Int, _ more: String = "") -> APNsPayloadError {
        APNsPayloadError(
            .tooLarge(bytes: bytes, limit: limit), "the payload has \(bytes) bytes; \(limit) is the limit\(more)")
    }

    /// The ``message``.
    public var description: String { message }
}
