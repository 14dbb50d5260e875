@testable import Holdfast

/// Receipts in few words, to be compared.
func text(_ receipts: [Receipt]) -> [String] {
    receipts.map { receipt in
        switch receipt {
        case .accepted(let uid): "\(uid)"
        case .repeated(let uid, let outcome): "\(uid) \(outcome)"
        case .refused(let refusal): "\(refusal.reason)"
        case .undetermined: "undetermined"
        }
    }
}
