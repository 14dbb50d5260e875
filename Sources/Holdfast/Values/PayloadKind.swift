/// The form of a notification's payload. New services bring new forms; the journal keeps an unknown one unchanged.
public struct PayloadKind: RawRepresentable, Hashable, Sendable {
    /// The number in records.
    public let rawValue: UInt8
    /// Creates a form from its number in records.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A JSON object, which Apple's services and Firebase Cloud Messaging take.
    public static let json = PayloadKind(rawValue: 0)
    /// Bytes encrypted for the device, as in Web Push.
    public static let sealed = PayloadKind(rawValue: 1)
    /// No payload: the notification itself is the message.
    public static let none = PayloadKind(rawValue: 2)
}
