internal import Holdfast

/// An error as it crosses: what it was on one side it is on the other, so that exit codes do not depend on the way.
struct ErrorForm: Codable {
    enum Kind: String, Codable {
        case journal
        case refusal
        case control
    }

    struct Content: Codable {
        var kind: Kind
        /// Of the journal's error or ours; with a refusal its reason.
        var code: String
        /// For people: what is wrong, and what to do.
        var message: String
    }

    var error: Content

    init(_ error: any Error) {
        self.error =
            switch error {
            case let error as JournalError:
                Content(kind: .journal, code: error.code.name, message: error.message)
            case let error as Refusal:
                Content(kind: .refusal, code: error.reason.rawValue, message: error.detail)
            case let error as ControlError:
                Content(kind: .control, code: error.code.name, message: error.message)
            default: Content(kind: .control, code: ControlError.Code.failed.name, message: "\(error)")
            }
    }

    var value: any Error {
        switch error.kind {
        case .journal: JournalError(JournalError.Code(error.code), error.message)
        case .refusal: Refusal(Reason(rawValue: error.code), error.message)
        case .control: ControlError(ControlError.Code(error.code), error.message)
        }
    }
}
