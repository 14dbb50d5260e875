/// Knows how long something is so, for what is told only where it lasts. Short interruptions do not end it.
///
/// A pure machine.
struct LastingState: Sendable {
    /// It is told from then on.
    static let patience = Duration.seconds(5)
    /// It is over when it was not so for this long.
    static let gap = Duration.seconds(10)

    private(set) var since: Moment?
    private var lastSeen = Duration.zero
    private var isSo = false
    /// Whether it has lasted for long enough.
    private(set) var isTold = false

    /// When to look again, if nothing happens; nil while only news can change anything.
    var nextLook: Duration? {
        guard let since else { return nil }
        if !isSo { return lastSeen + Self.gap }
        return isTold ? nil : since.monotonic + Self.patience
    }

    /// - Parameter moment: the time; asked where it is so, or was.
    mutating func look(_ isSo: Bool, moment: () -> Moment) {
        guard isSo || since != nil else { return }
        let now = moment()
        if isSo, since == nil { since = now }
        // Until now it was so, whenever that was looked at.
        if isSo || self.isSo { lastSeen = now.monotonic }
        self.isSo = isSo
        if !isSo, now.monotonic >= lastSeen + Self.gap { since = nil }
        guard let since else {
            isTold = false
            return
        }
        if isSo, now.monotonic >= since.monotonic + Self.patience { isTold = true }
    }
}
