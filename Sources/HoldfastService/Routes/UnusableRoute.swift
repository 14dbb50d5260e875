/// Why a route of the configuration cannot be used, naming the file or the key that is wrong.
public struct UnusableRoute: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, for people.
    public let message: String

    package init(_ message: String) { self.message = message }

    /// The reason again.
    public var description: String { message }
}
