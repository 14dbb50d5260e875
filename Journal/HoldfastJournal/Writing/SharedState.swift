import Holdfast

/// The state that the writer and the callers of a journal share, behind one lock.
struct SharedState: Sendable {
    /// The failure after which the journal must be reopened; `nil` while it works.
    var failure: JournalError?
    var isClosed = false
    /// The reason for refusing appends for want of room, from the last append or the writer's last look; `nil` for none.
    var wantOfRoom: JournalError?
    var state: JournalState
    var figures: CommitFigures
    var ceilings = MarkCeilings()
    /// Outcomes behind this one do not give way on a full disk; `nil` for any.
    var held: OutcomeCursor?
    /// Outcomes that were met and cannot be read.
    var outcomeDamage = OutcomeDamage()
    var observer: (@Sendable (CommitReport) -> Void)?

    init(state: JournalState, figures: CommitFigures) {
        self.state = state
        self.figures = figures
    }

    /// - Returns: whether a commit must be made for the mark's sake.
    mutating func raiseMark(of lane: UInt32, to ceiling: UInt64) -> Bool {
        guard let record = state[lane] else { return false }
        let index = Int(lane) - 1
        ceilings.raise(index, to: ceiling)
        return record.mark < min(ceilings[index], record.lastUID)
    }

    /// The ceiling as it was raised so far counts no more.
    mutating func forgetCeiling(of lane: UInt32) {
        ceilings.forget(Int(lane) - 1)
    }

    func opening(of lane: LaneID) -> LaneOpening {
        let record = state[lane.rawValue]
        return LaneOpening(
            id: lane, markAtOpen: UID(record?.mark ?? 0), lastUID: UID(record?.lastUID ?? 0),
            state: record?.state ?? .running)
    }

    func checkOpen(_ directory: String) throws(JournalError) {
        if isClosed { throw .closed(directory) }
        if let failure { throw failure }
    }
}
