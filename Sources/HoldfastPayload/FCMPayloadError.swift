/// The reason why a message for Firebase Cloud Messaging can't be encoded: the field concerned, and the fault. Holds no content
/// of the message.
public struct FCMPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault. Closed, because a caller has one choice to make: an oversized message can be shortened
    /// (``FCMPayload/shortened(to:ending:)``), every other fault is a mistake in the program.
    public enum Kind: Hashable, Sendable {
        /// The message has more bytes than the limit.
        case tooLarge(bytes: Int, limit: Int)
        /// A value that JSON cannot hold.
        case notJSON
        /// A value that Google refuses: out of its range, reserved, or beside one that excludes it.
        case invalid
    }

    /// The kind of fault, to decide by.
    public let kind: Kind
    /// The fault in words, for developers. Names the field as Google's reference does, such as `android.ttl`.
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static func invalid(_ field: String, _ fault: String) -> FCMPayloadError {
        FCMPayloadError(.invalid, "\(field) \(fault)")
    }

    static func tooLarge(_ bytes: Int, limit: Int, _ more: String = "") -> FCMPayloadError {
        FCMPayloadError(
            .tooLarge(bytes: bytes, limit: limit), "the message has \(bytes) bytes; \(limit) is the limit\(more)")
    }

    /// The ``message``.
    public var description: String { message }
}
