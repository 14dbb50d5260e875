/// The inbox of a Consumer, for other threads: arrays under a lock, swapped out whole for each turn.
struct ConsumerInbox: Sendable {
    /// Number of the connection, and what happened on it.
    var events: [(connection: Int, event: ConnectorEvent)] = []
    /// The latest report of each lane, so that an unread inbox does not grow.
    var commits: [LaneID: CommitReport.Lane] = [:]
    var settled: [(connection: Int, work: SettlementWork, result: Result<SettlementReport, JournalError>)] = []
    var promoted: [(lane: Int, result: Result<[UID], JournalError>)] = []
    var quarantined: [(order: QuarantineOrder, result: Result<[UID], JournalError>)] = []
    var connected: [(connection: Int, result: Result<any Connection, ConnectError>)] = []
    var orders: [LaneOrder] = []
    var withdrawals: [WithdrawalOrder] = []
    var inquiries: [Inquiry] = []
    /// Operators who want it to try at once whatever it waits for.
    var hurries: [@Sendable (Result<Void, JournalError>) -> Void] = []
    /// To be called when a turn has heeded the paused tags of now.
    var tagInquiries: [@Sendable () -> Void] = []
    /// Entries of another journal were put into this one, perhaps among the deferred.
    var hasRestored = false
    /// Operators' batches that are about to be put into the journal, and those that have been, or not.
    var restoresBegun = 0
    var restoresEnded = 0
    /// Lanes whose state could not be written.
    var statesNotNoted: [(lane: Int, error: JournalError)] = []
    /// Whether the inbox is closed, because its Consumer has ended.
    var isOver = false
    /// The journal can't go on until it is reopened.
    var failure: JournalError?
    /// Lanes whose send mark is set back, or could not be.
    var marksLowered: [(lane: Int, result: Result<Void, JournalError>)] = []
    /// The result of housekeeping.
    var trimmed: Result<Trimmed, JournalError>?
    var barrierAsked = false
    var credentialsChanged = false
    /// Other terms for the same route.
    var terms: Terms?
    /// This Consumer does for all what one of them does, and goes on reporting from there.
    var takesCharge: ReportInterval?
    /// The route is not this Consumer's any more; others go on.
    var retirementAsked: Retirement?
    var shutdownAsked = false
    /// Whether a request waits for the next turn.
    var nudged = false

    struct Terms: Sendable {
        let route: Route
        let configuration: EngineConfiguration
    }

    var isEmpty: Bool {
        events.isEmpty && commits.isEmpty && settled.isEmpty && promoted.isEmpty && quarantined.isEmpty
            && connected.isEmpty && orders.isEmpty && withdrawals.isEmpty && inquiries.isEmpty && hurries.isEmpty
            && tagInquiries.isEmpty && !hasRestored && restoresBegun == 0 && statesNotNoted.isEmpty && failure == nil
            && marksLowered.isEmpty && trimmed == nil && !barrierAsked && !credentialsChanged && terms == nil
            && takesCharge == nil && retirementAsked == nil && !shutdownAsked && !nudged
    }

    /// Whether it holds anything but the journal's word that housekeeping is done.
    var hasMoreThanHousekeeping: Bool {
        guard trimmed != nil else { return !isEmpty }
        var rest = self
        rest.trimmed = nil
        return !rest.isEmpty
    }
}

/// An operator's word about a lane.
struct LaneOrder: Sendable {
    enum Kind: Sendable {
        case resume
        case pause(String)
    }

    let lane: LaneID
    let kind: Kind
    /// When it is on disk.
    let completion: @Sendable (Result<Void, JournalError>) -> Void
}

/// Entries of one lane that are not to be sent (again).
struct WithdrawalOrder: Sendable {
    let lane: LaneID
    let uids: [UID]
    let completion: @Sendable (Result<Withdrawal, JournalError>) -> Void
}

/// A request for what a Consumer knows of entries.
struct Inquiry: Sendable {
    let uids: [UID]
    let completion: @Sendable ([EntryInsight]) -> Void
}

extension ConsumerInbox {
    /// A commit has changed a lane of the Consumer.
    mutating func note(_ lane: CommitReport.Lane) {
        let hadSchedules = commits[lane.id]?.hasSchedules == true
        commits[lane.id] = lane
        if hadSchedules { commits[lane.id]?.hasSchedules = true }
    }

    /// An operator's batch is in the journal, or will not be.
    mutating func endRestoring() {
        hasRestored = true
        restoresEnded += 1
    }

    /// Takes over the inbox of the Consumer whose lanes this one serves now.
    mutating func takeOver(_ left: ConsumerInbox) {
        for (lane, commit) in left.commits where commits[lane].map({ $0.lastUID < commit.lastUID }) ?? true {
            commits[lane] = commit
        }
        orders += left.orders
        withdrawals += left.withdrawals
        inquiries += left.inquiries
        hurries += left.hurries
        tagInquiries += left.tagInquiries
        hasRestored = hasRestored || left.hasRestored
        restoresBegun += left.restoresBegun
        restoresEnded += left.restoresEnded
        trimmed = trimmed ?? left.trimmed
        failure = failure ?? left.failure
        nudged = true
    }

    /// Completes waiting requests: orders with the error, inquiries with nothing.
    func refuse(_ error: JournalError) {
        for order in orders { order.completion(.failure(error)) }
        for order in withdrawals { order.completion(.failure(error)) }
        for inquiry in inquiries { inquiry.completion([]) }
        for completion in hurries { completion(.failure(error)) }
        for completion in tagInquiries { completion() }
    }
}
