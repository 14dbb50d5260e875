package import Holdfast

/// The reason why a gateway can't listen: the thing concerned, the fault, and the remedy.
public struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault. Later versions may have more.
    public struct Kind: Hashable, Sendable {
        private let name: String

        /// A configuration or a file has to be mended.
        public static let configuration = Kind(name: "configuration")
        /// The address is in use or not of this machine, or the journal takes nothing: this may pass.
        public static let cannotListen = Kind(name: "cannotListen")
    }

    /// The kind of fault, to decide whether to try again.
    public let kind: Kind
    /// The fault in words, for operators. Holds no secret.
    public let message: String

    /// The fault of the journal by which the gateway can't listen; nil for another one.
    package let journal: JournalError.Code?

    package init(_ kind: Kind, _ message: String, journal: JournalError.Code? = nil) {
        self.kind = kind
        self.message = message
        self.journal = journal
    }

    /// The ``message``.
    public var description: String { message }
}
