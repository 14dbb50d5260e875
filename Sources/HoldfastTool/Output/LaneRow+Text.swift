internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Lanes for people.
extension LaneRow {
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
