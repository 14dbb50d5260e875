/// A fault in a configuration, which names the setting or file and the reason.
public struct FCMConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, for people.
    public let message: String
    /// An error with this message.
    public init(_ message: String) { self.message = message }
    /// The message.
    public var description: String { message }
}
