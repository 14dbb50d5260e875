/// Decides when the memory of connections that have gone is worth giving back to the system: when a crowd has gone, and not
/// while as many come as go.
///
/// A pure machine.
struct CrowdWatch: Sendable {
    /// The least number of closed connections; they had some tens of megabytes.
    static let leastCrowd = 500

    /// The most that were open at a time since memory was given back last.
    private var most = 0

    mutating func opened(now open: Int) { most = max(most, open) }

    /// - Parameter open: the connections still open.
    /// - Returns: whether a crowd has gone: more than stay, and ``leastCrowd`` at least.
    mutating func closed(now open: Int) -> Bool {
        let gone = most - open
        guard gone >= Self.leastCrowd, gone > open else { return false }
        most = open
        return true
    }
}
