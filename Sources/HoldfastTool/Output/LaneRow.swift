internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// A lane as it is listed: with what the journal knows of it, and its route.
struct LaneRow: Encodable, Equatable, Sendable {
    var lane: LaneForm
    /// The send mark; nil where it was not read.
    var mark: UInt64?
    /// The state of the lane's route, by the process that uses the journal.
    var route: RouteForm?

    private enum CodingKeys: String, CodingKey { case mark, route }

    /// - Parameter topicsAtRest: which topics its entries wait for, where no process says so.
    init(_ lane: JournalStatus.Lane, _ desk: DeskStatus?, topicsAtRest: String? = nil) {
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
    init(_ lane: DeskStatus.Lane, _ desk: DeskStatus) {
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
    func encode(to encoder: any Encoder) throws {
        try lane.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(mark, forKey: .mark)
        try container.encodeIfPresent(route, forKey: .route)
    }

    static func table(_ rows: [LaneRow], indent: String = "") -> String {
        let rows = rows.map { row in [indent + row.cells[0]] + row.cells.dropFirst() }
        return Columns.text([["\(indent)LANE", "STATE", "UNCONFIRMED", "DEFERRED", ""]] + rows, right: [2, 3])
    }

    /// Of several journals.
    static func table(_ journals: [(place: FleetPlaceForm, rows: [LaneRow])]) -> String {
        let rows = journals.flatMap { journal in journal.rows.map { journal.place.cells + $0.cells } }
        return Columns.text(
            [FleetPlaceForm.heading + ["LANE", "STATE", "UNCONFIRMED", "DEFERRED", ""]] + rows, right: [4, 5])
    }

    private var cells: [String] {
        [
            lane.lane.printable(maximumLength: 320), lane.state, Format.count(lane.unconfirmed),
            Format.count(lane.deferred), remarks,
        ]
    }

    private var remarks: String {
        var parts: [String] = []
        if let since = lane.since { parts.append("since \(since.text)") }
        if let reason = lane.reason { parts.append("because: \(reason.printable(maximumLength: 512))") }
        if let scheduled = lane.scheduled { parts.append("\(Format.count(scheduled)) scheduled") }
        if let held = lane.heldByTag { parts.append("\(Format.count(held)) held by paused tags") }
        if let probe = lane.nextProbe { parts.append("tries one entry at \(probe.text)") }
        if lane.isServed == false { parts.append("no route of the process that uses the journal serves it") }
        if let route {
            parts.append("\(Format.count(route.inFlight)) in flight on its route")
            if route.suspects > 0 { parts.append("\(Format.count(route.suspects)) of them suspect") }
            parts.append(
                "\(route.endpoint.printable(maximumLength: 256)): \(route.connection.printable(maximumLength: 512))")
            if let holding = route.holding { parts.append("holding: \(holding.printable(maximumLength: 512))") }
            for topic in route.topics ?? [] { parts.append(topic.remark) }
        }
        return parts.joined(separator: "; ")
    }
}

extension TopicForm {
    fileprivate var remark: String {
        let probe = nextProbe.map { "; one entry of it is tried at \($0.text)" } ?? ""
        return "topic \(topic.printable(maximumLength: 256)) is set aside since \(since.text), because: "
            + "\(reason.printable(maximumLength: 512))\(probe)"
    }
}
