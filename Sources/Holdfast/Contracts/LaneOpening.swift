/// The state of a lane when it is opened. Opaque outside of this package.
public struct LaneOpening: Hashable, Sendable {
    package let id: LaneID
    /// The send mark at opening: unconfirmed entries at or below it are possibly sent.
    package let markAtOpen: UID
    /// The greatest UID ever appended to the lane; `.none` for a new one.
    package let lastUID: UID
    /// The state stored by ``JournalService/setState(of:to:completion:)``.
    package let state: LaneState

    package init(id: LaneID, markAtOpen: UID, lastUID: UID, state: LaneState = .running) {
        self.id = id
        self.markAtOpen = markAtOpen
        self.lastUID = lastUID
        self.state = state
    }
}
