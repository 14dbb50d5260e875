package import Holdfast

/// A lane, and what its process knows of it.
package struct LaneForm: Codable, Hashable, Sendable {
    /// `ROUTE/URGENCY/GUARANTEE`
    package var lane: String
    /// `running`, `paused` or `stopped`.
    package var state: String
    /// Absent where nobody gave one.
    package var reason: String?
    package var since: ExactTime?
    /// When a lane that stopped by itself tries one entry.
    package var nextProbe: ExactTime?
    /// Deferred and scheduled entries included.
    package var unconfirmed: Int
    package var deferred: Int
    /// Absent for none.
    package var scheduled: Int?
    /// Of ``deferred``, waiting for a paused tag. Absent for none.
    package var heldByTag: Int?
    /// Whether a route of the living process serves it; absent when no process says so.
    package var isServed: Bool?
    /// When its oldest entry was accepted, deferred ones left out. Absent for none, and where it was not measured.
    package var oldestAcceptedAt: ExactTime?

    package init(
        _ key: LaneKey, _ state: LaneState, unconfirmed: Int, deferred: Int, scheduled: Int = 0,
        heldByTag: Int = 0,
        nextProbe: WallTime? = nil, isServed: Bool? = nil
    ) {
        lane = key.description
        switch state {
        case .running: self.state = "running"
        case .paused(let reason, let since):
            (self.state, self.reason, self.since) = ("paused", reason.isEmpty ? nil : reason, ExactTime(since))
        case .stopped(let reason, let since):
            (self.state, self.reason, self.since) = ("stopped", reason.isEmpty ? nil : reason, ExactTime(since))
        }
        self.unconfirmed = unconfirmed
        self.deferred = deferred
        self.scheduled = scheduled > 0 ? scheduled : nil
        self.heldByTag = heldByTag > 0 ? heldByTag : nil
        self.nextProbe = nextProbe.map(ExactTime.init)
        self.isServed = isServed
    }

    init(_ lane: DeskStatus.Lane) {
        self.init(
            lane.key, lane.state, unconfirmed: lane.unconfirmed, deferred: lane.deferred, scheduled: lane.scheduled,
            heldByTag: lane.heldByTag, nextProbe: lane.nextProbeAt, isServed: lane.isServed)
        oldestAcceptedAt = lane.oldestAcceptedAt.map(ExactTime.init)
    }

    func value() throws(ControlError) -> DeskStatus.Lane {
        DeskStatus.Lane(
            key: try LaneKey.read(lane), state: try laneState(), unconfirmed: unconfirmed, deferred: deferred,
            scheduled: scheduled ?? 0, isServed: isServed ?? false, nextProbeAt: nextProbe?.value,
            heldByTag: heldByTag ?? 0, oldestAcceptedAt: oldestAcceptedAt?.value)
    }

    private func laneState() throws(ControlError) -> LaneState {
        let since = since?.value ?? WallTime(milliseconds: 0)
        switch state {
        case "running": return .running
        case "paused": return .paused(reason: reason ?? "", since: since)
        case "stopped": return .stopped(reason: reason ?? "", since: since)
        default: throw .malformed("there is no state of a lane \(state.debugDescription)")
        }
    }
}

extension LaneKey {
    /// - Parameter text: as ``LaneKey/description`` has it. A route may have slashes of its own.
    package static func read(_ text: String) throws(ControlError) -> LaneKey {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let route = parts.dropLast(2).joined(separator: "/")
        guard parts.count >= 3, (1...64).contains(route.utf8.count),
            let urgency = Urgency.allCases.first(where: { $0.name == parts[parts.count - 2] })
        else {
            throw .malformed(
                "\(text.prefix(200).debugDescription) names no lane: a lane is named ROUTE/URGENCY/GUARANTEE, such as "
                    + "default/immediate/at-least-once")
        }
        return LaneKey(route: route, urgency: urgency, guarantee: try Guarantee.read(String(parts[parts.count - 1])))
    }
}

extension Guarantee {
    static func read(_ name: String) throws(ControlError) -> Guarantee {
        guard let guarantee = allCases.first(where: { $0.name == name }) else {
            throw .malformed(
                "there is no guarantee \(name.prefix(200).debugDescription): give at-least-once or at-most-once")
        }
        return guarantee
    }
}
