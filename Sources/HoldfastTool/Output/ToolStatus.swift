internal import Holdfast
internal import HoldfastControl
internal import HoldfastService
internal import HoldfastTransport

/// The exit codes: the numbers of sysexits.h, where one fits.
///
/// When several hold at the end of a command, the first in the order of the cases below is the one that is returned.
enum ToolStatus: Int32, CaseIterable, Comparable {
    /// Wrong flags or arguments.
    case usage = 64
    /// The input does not exist or cannot be read.
    case noInput = 66
    /// A fault of Holdfast's own.
    case internalFault = 70
    /// The journal is damaged, or of a newer format: trying again does not help, an operator must fix it.
    case unreadable = 72
    /// The journal cannot be opened or made: owned by another process, or on a file system that cannot keep it.
    case cannotOpen = 73
    /// The journal cannot be written or read: a full disk, a full journal, an I/O error.
    case inputOutput = 74
    /// Permission denied.
    case noPermission = 77
    /// Certificates, keys, host names, credentials: an operator must fix them.
    case configuration = 78
    /// An address cannot be listened on.
    case unavailable = 69
    /// The owner of a journal of the fleet did not answer: what is known of the others was told.
    case hostSilent = 68
    /// Notifications are left in the journal; `recover` delivers them.
    case entriesLeft = 75
    /// Some of the input was malformed or refused, and was not taken.
    case badInput = 65
    /// No process uses the journal, or there is none yet.
    case notRunning = 3
    /// Nothing is left, but not everything was confirmed, or something was found to be wrong: some were rejected by the service, expired, were taken back by an
    /// operator, or are unknown.
    case notAllConfirmed = 1
    /// Everything was confirmed.
    case ok = 0

    static func < (lhs: ToolStatus, rhs: ToolStatus) -> Bool {
        // Both are in the list of all cases.
        allCases.firstIndex(of: lhs)! > allCases.firstIndex(of: rhs)!
    }
}

/// An error that ends a command: a message that names the thing, and the exit code.
struct ToolError: Error, Hashable, CustomStringConvertible {
    let status: ToolStatus
    let message: String
    /// The items that the message lists, one each; the message alone where it is no list.
    let mistakes: [String]

    init(_ status: ToolStatus, _ message: String) {
        self.status = status
        self.message = message
        mistakes = [message]
    }

    /// - Parameter heading: goes before the mistakes, which have a line each.
    init(_ status: ToolStatus, _ heading: String, mistakes: [String]) {
        self.status = status
        message = ([heading] + mistakes).joined(separator: "\n")
        self.mistakes = mistakes
    }

    /// - Parameter mistakes: the items that the message lists.
    init(_ status: ToolStatus, _ message: String, each mistakes: [String]) {
        (self.status, self.message, self.mistakes) = (status, message, mistakes)
    }

    init(_ error: JournalError) { self.init(Self.status(of: error), error.message) }

    /// For errors of which only their description is known.
    init(_ error: any Error, otherwise status: ToolStatus) {
        switch error {
        case let error as ToolError: self = error
        case let error as JournalError: self.init(error)
        case let error as ControlError: self.init(error)
        case let error as ConfigError: self = error.toolError
        case let error as UnusableRoute: self.init(.configuration, error.message)
        case let error as Refusal: self.init(.badInput, error.description)
        case let error as ConnectError: self.init(error.kind == .configuration ? .configuration : status, error.message)
        default: self.init(status, FileFailure.text(error))
        }
    }

    var description: String { message }

    private static func status(of error: JournalError) -> ToolStatus {
        switch error.code {
        case .notFound: .noInput
        case .permissionDenied, .readOnly: .noPermission
        case .beingRead: .entriesLeft
        case .newerFormat, .damaged: .unreadable
        case .wrongKey, .configuration: .configuration
        case .invalidEntry: .badInput
        case .unreachable: .unavailable
        case .ownedByAnotherProcess, .ownershipLost, .unsupportedFileSystem, .alreadyExists: .cannotOpen
        default: .inputOutput
        }
    }
}

extension ToolError {
    init(_ error: ControlError) {
        let status: ToolStatus =
            switch error.code {
            case .notServed, .timedOut, .disconnected, .busy: .entriesLeft
            case .permissionDenied: .noPermission
            case .otherVersion, .unknownRequest: .unavailable
            case .cannotListen: .cannotOpen
            default: .internalFault
            }
        self.init(status, error.message)
    }
}

extension ConfigError {
    var toolError: ToolError { ToolError(.configuration, heading, mistakes: lines) }
}
