/// A failure of a journal, with a message for operators.
public struct JournalError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. More may come.
    public struct Code: Hashable, Sendable {
        /// The name by which other processes know it, too.
        package let name: String
        package init(_ name: String) { self.name = name }

        /// Another process owns the journal for writing. The message names it.
        public static let ownedByAnotherProcess = Code("owned by another process")
        /// An engine of this process delivers from the journal already: share that engine, or open another journal.
        public static let inUse = Code("in use")
        /// Another process reads the journal exclusively, so it cannot be opened for writing: try again. The message names it.
        public static let beingRead = Code("being read")
        /// There is no such journal, lane or record.
        public static let notFound = Code("not found")
        /// The path of a new journal exists already.
        public static let alreadyExists = Code("already exists")
        /// The directory or a file of the journal may not be read or written by this user.
        public static let permissionDenied = Code("permission denied")
        /// A newer Holdfast wrote the journal.
        public static let newerFormat = Code("newer format")
        /// The journal is damaged.
        public static let damaged = Code("damaged")
        /// The journal is sealed with a key that was not given, or it is not sealed and a key was given, or a key file has
        /// something else in it. The message names the key that is needed. Nothing was changed.
        public static let wrongKey = Code("wrong key")
        /// The settings by which the journal is reached can't be used: somebody must change them. Nothing was changed.
        public static let configuration = Code("configuration")
        /// The journal's own limit is reached; appends are refused until it has drained.
        public static let limitReached = Code("limit reached")
        /// The disk is full; appends are refused until there is room.
        public static let diskFull = Code("disk full")
        /// The file system refuses writes.
        public static let readOnly = Code("read-only")
        /// A read or write failed.
        public static let inputOutput = Code("I/O error")
        /// A commit failed at its sync or meta page: its content may or may not be there after a reopen.
        public static let undetermined = Code("undetermined")
        /// An earlier commit was undetermined: every call fails until the journal is reopened.
        public static let mustBeReopened = Code("must be reopened")
        /// The file system cannot keep the journal's promises (network and user-space file systems).
        public static let unsupportedFileSystem = Code("unsupported file system")
        /// The journal has ``ProducerID/greatestCount`` Producers already.
        public static let tooManyProducers = Code("too many producers")
        /// An imported entry contradicts itself; nothing of its batch was taken.
        public static let invalidEntry = Code("invalid entry")
        /// Another host has taken the journal. Nothing more is sent from it here, and what this process answered for goes on there.
        public static let ownershipLost = Code("ownership lost")
        /// What keeps the journal's commits can't be reached now: nothing of the call is in the journal. It is tried for ever, so
        /// the same call may succeed later.
        public static let unreachable = Code("unreachable")
        /// What keeps the journal's commits has lost some, or has others than this process knows of: a database was restored, or
        /// a standby promoted that lacked them. The message says what is to be decided.
        public static let contradicted = Code("contradicted")
        /// The working copy of a journal that others keep, such as a database, was deleted, moved or replaced while it was in use.
        /// Nothing is lost: opening the journal anew makes another copy.
        public static let copyLost = Code("copy lost")
        /// The journal was closed.
        public static let closed = Code("closed")
    }

    /// The kind of failure.
    public let code: Code
    /// A message for operators: what happened, to what, and what to do.
    public let message: String
    /// What to do, where that is not what is advised for other errors of the code.
    package let advice: Advice?

    /// What an operator does about an error, and the command that shows more.
    package struct Advice: Hashable, Sendable {
        package let next: String
        /// That helps; nil where none does.
        package let command: String?

        package init(_ next: String, command: String?) { (self.next, self.command) = (next, command) }
    }

    /// Creates an error with a message for operators.
    public init(_ code: Code, _ message: String) { self.init(code, message, advice: nil) }

    package init(_ code: Code, _ message: String, advice: Advice?) {
        self.code = code
        self.message = message
        self.advice = advice
    }

    /// The ``message``.
    public var description: String { message }
}

extension JournalError {
    /// The engine that was to do it has ended.
    static let engineHasEnded = JournalError(.closed, "the engine has ended")
}

extension JournalError {
    /// Whether the journal can't recover from this by itself.
    var isFatal: Bool { code == .closed || code == .damaged || needsReopening }

    /// Whether the journal takes and gives nothing more until it is opened again.
    package var needsReopening: Bool {
        [.undetermined, .mustBeReopened, .ownershipLost, .contradicted, .copyLost].contains(code)
    }
}

extension JournalError.Code {
    /// Whether nothing is wrong with the journal itself: another host owns it, the database that keeps it went back in time or is away,
    /// or the copy of it on this machine is gone. It is opened anew, as often as that comes.
    package var isOfOwnership: Bool { [.ownershipLost, .unreachable, .contradicted, .copyLost].contains(self) }
}
