/// Adds up what operators take back in many parts, so that the log has one line of it, and not one of each part.
///
/// A pure machine.
struct WithdrawnSum: Sendable {
    /// So long after the last part it is told.
    static let quiet = Duration.seconds(1)
    /// What takes longer is told so often.
    static let greatest = Duration.seconds(60)

    private var sum = Withdrawal()
    private var began = Duration.zero
    private var last = Duration.zero

    var isEmpty: Bool { sum == Withdrawal() }

    /// When the sum is to be told; nil for none.
    var nextTelling: Duration? { isEmpty ? nil : min(last + Self.quiet, began + Self.greatest) }

    mutating func add(_ part: Withdrawal, now: Duration) {
        if isEmpty { began = now }
        last = now
        sum += part
    }

    /// - Parameter isLast: whether there is no later time to tell it.
    /// - Returns: the sum, if it is to be told now.
    mutating func take(isLast: Bool, now: Duration) -> Withdrawal? {
        guard let nextTelling, isLast || nextTelling <= now else { return nil }
        defer { sum = Withdrawal() }
        return sum
    }
}
