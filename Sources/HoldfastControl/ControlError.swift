/// What went wrong between a tool and the process that owns a journal. What the journal itself refuses crosses as what it
/// is: `JournalError` and `Refusal`.
public struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. More may come.
    public struct Code: Hashable, Sendable {
        /// As it crosses the wire.
        let name: String
        init(_ name: String) { self.name = name }

        /// Nobody listens on the journal's socket: there is no owner, or its program does not serve one.
        public static let notServed = Code("notServed")
        /// The socket belongs to another user.
        public static let permissionDenied = Code("permissionDenied")
        /// The owner did not answer in time. What was asked for may be done or not.
        public static let timedOut = Code("timedOut")
        /// The connection ended before the answer came. What was asked for may be done or not.
        public static let disconnected = Code("disconnected")
        /// The owner speaks another version of the protocol, or the one before HTTP.
        public static let otherVersion = Code("otherVersion")
        /// The owner does not know this request: its Holdfast is older.
        public static let unknownRequest = Code("unknownRequest")
        /// What came over the wire is not what the protocol says.
        public static let malformed = Code("malformed")
        /// A message or a batch is larger than the protocol allows.
        public static let tooLarge = Code("tooLarge")
        /// As many connections as the owner allows are open.
        public static let busy = Code("busy")
        /// The socket cannot be made.
        public static let cannotListen = Code("cannotListen")
        /// The owner met an error that has no code of its own.
        public static let failed = Code("failed")
    }

    public let code: Code
    /// For people: what happened, and what to do.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
