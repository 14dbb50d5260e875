/// The number of settled entries by outcome.
struct SettlementCounts: Hashable, Sendable {
    var confirmed = 0
    /// Of ``confirmed``: by a barrier, and by silence.
    var confirmedByBarrier = 0
    var confirmedByQuiet = 0
    var rejected: [Reason: Int] = [:]
    var expired = 0
    var unknown = 0
    /// By an operator's word; known when it is on disk.
    var withdrawn = 0
    /// A newer one took their place.
    var superseded = 0
    /// Put into the lane of the other environment.
    var moved = 0
    var deferred = 0
    var requeued = 0
}
