/// Measures how long a connection has had nothing to do. Told the time once a second.
///
/// A pure machine.
struct IdleClock {
    private let limit: Duration?
    private var lastStreamID: UInt32 = 0
    private var since: Duration

    /// - Parameter limit: nil for never.
    init(limit: Duration?, now: Duration) {
        self.limit = limit
        since = now
    }

    /// - Parameters:
    ///   - nextStreamID: what the next request's will be: another one than before means that there was work.
    ///   - isBusy: something is open, or waits.
    /// - Returns: whether there has been nothing to do for as long as the limit.
    mutating func isOver(nextStreamID: UInt32, isBusy: Bool, at now: Duration) -> Bool {
        if isBusy || nextStreamID != lastStreamID { since = now }
        lastStreamID = nextStreamID
        guard let limit else { return false }
        return now - since >= limit
    }
}
