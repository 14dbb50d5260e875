/// The lanes of one route, by index, the more urgent first.
///
/// A class, so that all parts of a route see the same lanes. Confined to the thread that runs the route's turns.
final class LaneTable: RandomAccessCollection {
    private var lanes: [RouteLane]
    /// How the route's places are shared between them.
    var share: LaneShare

    init(_ lanes: [LaneStateMachine]) {
        self.lanes = lanes.map { RouteLane($0) }
        share = LaneShare(lanes.map(\.key.urgency))
    }

    var startIndex: Int { 0 }
    var endIndex: Int { lanes.count }

    subscript(index: Int) -> RouteLane {
        // Not `_read`: without optimization, Swift 6.3.1 copies a large struct that it reads a part of, ends the access, and
        // then reads and destroys the yielded storage instead of the copy. `lanes[i].machine.wasStopped` released garbage.
        get { lanes[index] }
        _modify { yield &lanes[index] }
    }

    /// - Returns: nil for a lane of another route.
    func index(of id: LaneID) -> Int? { lanes.firstIndex { $0.id == id } }

    var ids: [LaneID] { lanes.map(\.id) }

    func key(_ index: Int, _ uid: UID) -> EntryKey { EntryKey(lane: lanes[index].id, uid: uid) }

    /// Whether some lane's probe is with a connection.
    var hasProbeOut: Bool { lanes.contains { $0.probe.isOut } }

    /// Whether some lane hands out, and has something to send.
    var hasWork: Bool { lanes.contains { $0.handsOut && $0.hasWork } }

    /// Whether the journal is asked to bring back deferred entries of some lane.
    var isPromoting: Bool { lanes.contains { $0.machine.isPromoting } }

    /// Whether some send mark is being set back.
    var isLowering: Bool { lanes.contains { $0.machine.isLowering } }

    /// Lanes that were stopped for one of these run again.
    func resume(stoppedFor remedies: Set<LaneStateMachine.StopRemedy>) -> [LaneChange] {
        indices.compactMap { index in
            guard let remedy = lanes[index].machine.remedy, remedies.contains(remedy) else { return nil }
            return resume(index)
        }
    }

    /// A lane that stopped by itself runs again.
    func resume(_ index: Int) -> LaneChange {
        lanes[index].resume()
        return LaneChange(lane: index)
    }

    /// Places of lanes with one attempt that are not filled yet.
    func keptPlaces(except index: Int? = nil) -> Int {
        var kept = 0
        for other in lanes.indices where other != index { kept += lanes[other].machine.keptPlaces }
        return kept
    }
}

/// A lane that stopped, or runs again, by itself: to be told, and noted in the journal.
struct LaneChange: Hashable, Sendable {
    let lane: Int
}
