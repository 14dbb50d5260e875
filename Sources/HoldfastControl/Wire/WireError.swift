internal import Holdfast

/// An error as it crosses: what it was on one side it is on the other, so that exit codes do not depend on the way.
struct WireError: Codable, Hashable {
    enum Kind: String, Codable {
        case journal
        case refusal
        case control
    }

    var kind: Kind
    /// Of the journal's error or ours; with a refusal its reason.
    var code: String
    var message: String

    init(_ error: any Error) {
        switch error {
        case let error as JournalError: (kind, code, message) = (.journal, error.code.name, error.message)
        case let error as Refusal: (kind, code, message) = (.refusal, error.reason.rawValue, error.detail)
        case let error as ControlError: (kind, code, message) = (.control, error.code.name, error.message)
        default: (kind, code, message) = (.control, ControlError.Code.failed.name, "\(error)")
        }
    }

    var error: any Error {
        switch kind {
        case .journal: JournalError(JournalError.Code(code), message)
        case .refusal: Refusal(Reason(rawValue: code), message)
        case .control: ControlError(ControlError.Code(code), message)
        }
    }
}
