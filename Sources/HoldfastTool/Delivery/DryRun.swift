internal import Holdfast
internal import HoldfastJournal

/// What `recover --dry-run` says: what `recover` would do. Opens the journal for reading only.
struct DryRun {
    let path: String
    let json: Bool
    var console = Console.standard

    private struct Report: Encodable {
        var journal: String
        var owner: String?
        var endpoint: String?
        var unconfirmed: Int
        var neverSent: Int
        var possiblySent: Int
        var deferred: Int
        var lanes: [JournalReport.Lane]
    }

    func run() throws -> ToolStatus {
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        let status = try reader.status()
        let route = try RememberedRoute.decode(try reader.note(RememberedRoute.noteName), journal: path)
        let all = JournalReport(status, directory: reader.directory, owner: reader.owner, route: route)
        let report = Report(
            journal: all.journal, owner: all.owner, endpoint: all.endpoint, unconfirmed: all.unconfirmed,
            neverSent: all.unconfirmed - all.possiblySent - all.deferred, possiblySent: all.possiblySent,
            deferred: all.deferred, lanes: all.lanes.filter { $0.unconfirmed > 0 })
        console.print(json ? try JSONOutput.line(report) : Self.text(report))
        return .ok
    }

    private static func text(_ report: Report) -> String {
        var lines: [String] = []
        if report.unconfirmed == 0 {
            lines.append("recover would have nothing to do: nothing is left in \(report.journal)")
        } else {
            let destination = report.endpoint.map { "to \($0)" } ?? "nowhere yet: the journal remembers no route"
            lines.append("recover would deliver \(Format.plural(report.unconfirmed, "notification")) \(destination)")
            lines.append(
                DeliverySummary.table(
                    [
                        ("never sent", Format.count(report.neverSent), ""),
                        (
                            "possibly sent", Format.count(report.possiblySent),
                            "again with the same apns-id (at-least-once), or to end as unknown (at-most-once)"
                        ),
                        ("deferred", Format.count(report.deferred), "when they are due"),
                    ] + report.lanes.map { ("lane \($0.lane)", Format.count($0.unconfirmed), "") }))
        }
        if let owner = report.owner { lines.append("but the journal is in use by \(owner), which delivers it itself") }
        return lines.joined(separator: "\n")
    }
}
