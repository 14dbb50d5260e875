/// An error between a client of the control socket and the process that owns the journal. Errors of the journal itself cross
/// the socket as they are: `JournalError` and `Refusal`.
public struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. Later versions may have more.
    public struct Code: Hashable, Sendable {
        /// The word that stands for it in JSON.
        let name: String
        init(_ name: String) { self.name = name }

        /// Nobody listens on the journal's socket: the journal has no owner, or its owner runs no ``ControlSocket``.
        public static let notServed = Code("notServed")
        /// The socket belongs to another user.
        public static let permissionDenied = Code("permissionDenied")
        /// The owner did not answer in time. The request may be done or not.
        public static let timedOut = Code("timedOut")
        /// The connection ended before the answer came. The request may be done or not.
        public static let disconnected = Code("disconnected")
        /// The owner speaks another version of the protocol, or the one before HTTP.
        public static let otherVersion = Code("otherVersion")
        /// The owner does not know this request: its Holdfast is older.
        public static let unknownRequest = Code("unknownRequest")
        /// A request or an answer is not as the protocol has it.
        public static let malformed = Code("malformed")
        /// A request, an answer or a batch is larger than the protocol allows.
        public static let tooLarge = Code("tooLarge")
        /// All connections that the owner allows are in use, or the owner is ending.
        public static let busy = Code("busy")
        /// The socket can't be made.
        public static let cannotListen = Code("cannotListen")
        /// An error of the owner that has no code of its own.
        public static let failed = Code("failed")
    }

    /// The kind of failure, for programs.
    public let code: Code
    /// For people: what happened, and what to do.
    public let message: String

    /// What happened, without what follows from it for the request; `nil` where the message does not tell them apart.
    package let event: String?

    package init(_ code: Code, _ message: String, event: String? = nil) {
        self.code = code
        self.message = message
        self.event = event
    }

    /// The message.
    public var description: String { message }
}
