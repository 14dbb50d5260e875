/// The form of a notification's payload. New ones come with new services, and one that is not known is kept as it came.
public struct PayloadKind: RawRepresentable, Hashable, Sendable {
    /// The number in records.
    public let rawValue: UInt8
    /// Creates a form from its number in records.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A JSON object, which Apple's services and Firebase Cloud Messaging take.
    public static let json = PayloadKind(rawValue: 0)
    /// Bytes that are encrypted for the device already, as Web Push has them.
    public static let sealed = PayloadKind(rawValue: 1)
    /// Nothing: the notification itself is the news.
    public static let none = PayloadKind(rawValue: 2)
}
