import Holdfast

/// What the writer and the callers of a journal share, behind one lock.
struct SharedState: Sendable {
    /// Why the journal does nothing any more until it is reopened; nil while it works.
    var failure: JournalError?
    var isClosed = false
    var state: JournalState
    var figures: CommitFigures
    /// By lane, lane 1 first; 0 for none.
    var ceilings: [UInt64] = []
    /// By lane: the mark as it was at open.
    let marksAtOpen: [UInt64]
    var observer: (@Sendable (CommitReport) -> Void)?

    init(state: JournalState, figures: CommitFigures) {
        self.state = state
        self.figures = figures
        marksAtOpen = state.lanes.map(\.mark)
    }

    /// - Returns: whether a commit must be made for the mark's sake.
    mutating func raiseMark(of lane: UInt32, to ceiling: UInt64) -> Bool {
        guard let record = state[lane] else { return false }
        let index = Int(lane) - 1
        while ceilings.count <= index { ceilings.append(0) }
        ceilings[index] = max(ceilings[index], ceiling)
        return record.mark < min(ceilings[index], record.lastUID)
    }

    func opening(of lane: LaneID) -> LaneOpening {
        let index = Int(lane.rawValue) - 1
        return LaneOpening(
            id: lane, markAtOpen: UID(index < marksAtOpen.count ? marksAtOpen[index] : 0),
            lastUID: UID(state[lane.rawValue]?.lastUID ?? 0))
    }

    func checkOpen(_ directory: String) throws(JournalError) {
        if isClosed { throw .closed(directory) }
        if let failure { throw failure }
    }
}
