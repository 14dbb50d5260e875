/// What other threads bring to a Consumer. Arrays under a lock, swapped out whole for each turn.
struct ConsumerInbox: Sendable {
    /// Number of the connection, and what happened on it.
    var events: [(connection: Int, event: ConnectorEvent)] = []
    /// The latest report of each lane, so that what nobody reads does not grow.
    var commits: [LaneID: CommitReport.Lane] = [:]
    var settled: [(connection: Int, work: SettlementWork, result: Result<SettlementReport, JournalError>)] = []
    var promoted: [(lane: Int, result: Result<[UID], JournalError>)] = []
    var connected: [(connection: Int, result: Result<any Connection, ConnectError>)] = []
    var resumedLanes: [LaneID] = []
    var pausedLanes: [LaneID] = []
    /// The journal has told the Producer that it can't go on.
    var failure: JournalError?
    /// Send marks that are set back, or could not be.
    var marksLowered = 0
    var shutdownAsked = false
    /// Somebody waits for an answer that only a turn gives.
    var nudged = false

    var isEmpty: Bool {
        events.isEmpty && commits.isEmpty && settled.isEmpty && promoted.isEmpty && connected.isEmpty
            && resumedLanes.isEmpty && pausedLanes.isEmpty && failure == nil && marksLowered == 0 && !shutdownAsked && !nudged
    }
}
