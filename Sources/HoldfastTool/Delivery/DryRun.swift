internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// Prints what `recover` would do, for `recover --dry-run`. Opens the journal for reading only.
struct DryRun {
    let path: String
    /// The configuration's; without any, the journal's own counts.
    let configured: [RouteSettings]
    let json: Bool
    var console = Console.standard

    private struct Report: Encodable {
        var journal: String
        var owner: String?
        var endpoint: String?
        /// Where the configuration has routes: their names and endpoints.
        var routes: [String: String]?
        var unconfirmed: Int
        var neverSent: Int
        var possiblySent: Int
        var deferred: Int
        /// Nil when there are none.
        var scheduled: Int?
        /// Nil when no tag is paused.
        var pausedTags: [PausedTagForm]?
        var lanes: [JournalReport.Lane]
        var unserved: [UnservedLane]
    }

    func run() throws -> ToolStatus {
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        let status = try reader.status()
        let all = try JournalReport(
            reader, route: try RouteSettings.decode(try reader.note(RouteSettings.noteName), journal: reader.directory))
        let report = Report(
            journal: all.journal, owner: all.owner,
            endpoint: configured.isEmpty ? all.endpoint : configured.count == 1 ? configured[0].endpoint : nil,
            routes: configured.isEmpty
                ? nil : Dictionary(configured.map { ($0.name, $0.endpoint) }) { first, _ in first },
            unconfirmed: all.unconfirmed,
            neverSent: all.unconfirmed - all.possiblySent - all.deferred - (all.scheduled ?? 0),
            possiblySent: all.possiblySent,
            deferred: all.deferred, scheduled: all.scheduled, pausedTags: all.pausedTags,
            lanes: all.lanes.filter { $0.lane.unconfirmed > 0 },
            unserved: UnservedLane.find(
                in: status, routes: configured.isEmpty ? [RouteSettings.standardName] : configured.map(\.name)))
        console.print(json ? try JSONOutput.line(report) : Self.text(report))
        return .ok
    }

    private static func text(_ report: Report) -> String {
        var lines: [String] = []
        if report.unconfirmed == 0 {
            lines.append("recover would have nothing to do: nothing is left in \(report.journal)")
        } else {
            let unserved = report.unserved.reduce(0) { $0 + $1.unconfirmed }
            let held = report.pausedTags?.reduce(0) { $0 + $1.held } ?? 0
            lines.append(
                "recover would deliver \(Format.plural(max(0, report.unconfirmed - unserved - held), "notification")) "
                    + destination(report))
            lines.append(
                DeliverySummary.table(
                    [
                        ("never sent", Format.count(report.neverSent), ""),
                        (
                            "possibly sent", Format.count(report.possiblySent),
                            "again with the same apns-id (at-least-once), or to end as unknown (at-most-once)"
                        ),
                        ("deferred", Format.count(report.deferred), "when they are due"),
                    ] + scheduled(report) + paused(report) + report.lanes.map { lane in row(lane, report) }))
        }
        if let owner = report.owner { lines.append("but the journal is in use by \(owner), which delivers it itself") }
        return lines.joined(separator: "\n")
    }

    private static func scheduled(_ report: Report) -> [(String, String, String)] {
        report.scheduled.map { [("scheduled", Format.count($0), "from their times on, in a process that runs then")] }
            ?? []
    }

    private static func paused(_ report: Report) -> [(String, String, String)] {
        (report.pausedTags ?? []).map { tag in
            (
                "paused tag", Format.count(tag.held),
                "\(tag.tag.text.printable(maximumLength: 64)): left, until `holdfast tags resume`"
            )
        }
    }

    private static func destination(_ report: Report) -> String {
        if let endpoint = report.endpoint { return "to \(endpoint)" }
        if let routes = report.routes { return "on \(routes.count) routes" }
        return "nowhere yet: the journal remembers no route"
    }

    private static func row(_ lane: JournalReport.Lane, _ report: Report) -> (String, String, String) {
        let isServed = !report.unserved.contains { $0.lane == lane.lane.lane }
        return (
            "lane \(lane.lane.lane)", Format.count(lane.lane.unconfirmed),
            isServed ? "" : "no route serves it: left alone"
        )
    }
}
