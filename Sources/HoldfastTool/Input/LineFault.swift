internal import Holdfast

/// A fault of a line, in a word and for people. It never quotes a token or a payload.
struct LineFault: Error, Hashable, CustomStringConvertible {
    /// Apple's word where Apple would refuse it for the same.
    let reason: Reason?
    let detail: String

    init(_ detail: String) { (reason, self.detail) = (nil, detail) }

    init(_ refusal: Refusal) { (reason, detail) = (refusal.reason, refusal.detail) }

    var description: String { reason.map { "\($0): \(detail)" } ?? detail }
}
