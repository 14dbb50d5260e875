internal import Holdfast

/// Why lanes stand still.
enum LaneTroubles {
    /// As a journal has noted it.
    static func of(_ status: JournalStatus) -> [LaneKey: String] {
        status.lanes.reduce(into: [:]) { $0[$1.key] = $1.state.standsStillBecause }
    }

    /// As the owner of a journal says it.
    static func of(_ status: DeskStatus) -> [LaneKey: String] {
        status.lanes.reduce(into: [:]) { $0[$1.key] = $1.state.standsStillBecause }
    }
}
