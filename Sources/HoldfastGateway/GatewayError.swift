/// Why a gateway can't listen: which thing is wrong, and what to do.
public struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// Somebody must mend a configuration or a file.
        case configuration
        /// The address is taken or none of this machine's, or the journal takes nothing: it may pass.
        case cannotListen
    }

    public let kind: Kind
    /// For people. Holds no secret.
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}
