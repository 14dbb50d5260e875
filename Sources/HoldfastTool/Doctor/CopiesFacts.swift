internal import Holdfast
internal import HoldfastService

/// The place of the working copies of a host of a fleet, as `serve` finds it.
enum CopiesFacts {
    /// - Parameter refusal: why `serve` would not begin there; nil where it would. That it has no room is told of the disk.
    static func findings(of path: String, _ refusal: JournalError?) -> [DoctorFinding] {
        guard let refusal, refusal.code != .diskFull else { return [] }
        let words = refusal.message.hasSuffix(".") ? String(refusal.message.dropLast()) : refusal.message
        let next =
            [.alreadyExists, .ownedByAnotherProcess].contains(refusal.code)
            ? "do what it says: `serve` ends with code \(ToolError(refusal).status.rawValue) before"
            : JournalFacts.remedy(of: refusal)
        return [.fault(.journal, "copies", path, words, next: next)]
    }
}
