package import Holdfast
package import HoldfastControl

/// A lane as it is listed: with what the journal knows of it, and its route.
package struct LaneRow: Encodable, Equatable, Sendable {
    package var lane: LaneForm
    /// The send mark; nil where it was not read.
    package var mark: UInt64?
    /// The state of the lane's route, by the process that uses the journal.
    package var route: RouteForm?

    private enum CodingKeys: String, CodingKey { case mark, route }

    /// - Parameter topicsAtRest: which topics its entries wait for, where no process says so.
    package init(_ lane: JournalStatus.Lane, _ desk: DeskStatus?, topicsAtRest: String? = nil) {
        let live = desk?.lanes.first { $0.key == lane.key }
        self.lane = LaneForm(
            lane.key, live?.state ?? lane.state, unconfirmed: live?.unconfirmed ?? lane.unconfirmed,
            deferred: live?.deferred ?? lane.deferred, scheduled: live?.scheduled ?? lane.scheduled,
            heldByTag: live?.heldByTag ?? lane.heldByTag, nextProbe: live?.nextProbeAt, isServed: live?.isServed)
        self.lane.reason = self.lane.reason ?? topicsAtRest
        mark = lane.mark.rawValue
        route = Self.route(live, desk)
    }

    /// As the process that uses the journal has it.
    package init(_ lane: DeskStatus.Lane, _ desk: DeskStatus) {
        self.lane = LaneForm(
            lane.key, lane.state, unconfirmed: lane.unconfirmed, deferred: lane.deferred, scheduled: lane.scheduled,
            heldByTag: lane.heldByTag, nextProbe: lane.nextProbeAt, isServed: lane.isServed)
        route = Self.route(lane, desk)
    }

    private static func route(_ lane: DeskStatus.Lane?, _ desk: DeskStatus?) -> RouteForm? {
        guard let lane, lane.isServed else { return nil }
        return desk?.routes.first { $0.name == lane.key.route }.map { RouteForm($0, isNamed: false) }
    }

    /// In one object.
    package func encode(to encoder: any Encoder) throws {
        try lane.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(mark, forKey: .mark)
        try container.encodeIfPresent(route, forKey: .route)
    }
}
