/// Whether, and after how long, a journal that failed is opened once more. A pure machine; time is told to it.
struct ReopenSchedule: Equatable {
    /// Failures in a row beyond which it is over.
    static let greatestCount = 6
    static let firstPause: Duration = .seconds(1)
    static let greatestPause: Duration = .seconds(30)
    /// After so long without a failure, the next one starts a new row.
    static let wellAfter: Duration = .seconds(600)

    private(set) var failures = 0

    /// - Parameters:
    ///   - lasted: how long it had been well.
    ///   - counts: whether the failure speaks against the journal.
    /// - Returns: how long to wait; nil when it has failed too often.
    mutating func failed(after lasted: Duration, counts: Bool = true) -> Duration? {
        guard counts else { return Self.firstPause }
        failures = lasted >= Self.wellAfter ? 1 : failures + 1
        guard failures <= Self.greatestCount else { return nil }
        return min(Self.firstPause * (1 << (failures - 1)), Self.greatestPause)
    }
}
