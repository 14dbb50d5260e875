internal import Holdfast
internal import HoldfastTransport

/// An error in JSON. The client makes the same error of it again, so that exit codes do not depend on the way.
struct ErrorForm: Codable {
    enum Kind: String, Codable {
        case journal
        case refusal
        case control
    }

    struct Content: Codable {
        var kind: Kind
        /// The code of the journal's error, or of ours; with a refusal, its reason.
        var code: String
        /// For people: what happened, to what and why, and what to do.
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
            default: Content(kind: .control, code: ControlError.Code.failed.name, message: FileFailure.text(error))
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
