/// What other threads bring to a Consumer. Arrays under a lock, swapped out whole for each turn.
struct ConsumerInbox: Sendable {
    /// An operator's word about a lane.
    enum Order: Sendable {
        case resume, pause
    }

    /// Number of the connection, and what happened on it.
    var events: [(connection: Int, event: ConnectorEvent)] = []
    /// The latest report of each lane, so that what nobody reads does not grow.
    var commits: [LaneID: CommitReport.Lane] = [:]
    /// A commit that said nothing about lanes; outcomes may have been taken.
    var hasCommitted = false
    var settled: [(connection: Int, work: SettlementWork, result: Result<SettlementReport, JournalError>)] = []
    var promoted: [(lane: Int, isStranded: Bool, result: Result<[UID], JournalError>)] = []
    var connected: [(connection: Int, result: Result<any Connection, ConnectError>)] = []
    var orders: [(lane: LaneID, order: Order)] = []
    /// The journal can't go on until it is reopened.
    var failure: JournalError?
    /// Lanes whose send mark is set back, or could not be.
    var marksLowered: [(lane: Int, isLowered: Bool)] = []
    /// Housekeeping is done.
    var trimmed = false
    var barrierAsked = false
    var shutdownAsked = false
    /// Somebody waits for an answer that only a turn gives.
    var nudged = false

    var isEmpty: Bool {
        events.isEmpty && commits.isEmpty && !hasCommitted && settled.isEmpty && promoted.isEmpty && connected.isEmpty
            && orders.isEmpty && failure == nil && marksLowered.isEmpty && !trimmed && !barrierAsked && !shutdownAsked
            && !nudged
    }
}
