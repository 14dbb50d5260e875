internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

extension BlacklistForm {
    static func table(_ rows: [BlacklistForm], withHeading: Bool) -> String {
        let cells = rows.map { row in
            [
                row.token, row.reason.printable(maximumLength: 64), row.since.text,
                row.learntAt.text, row.route.printable(maximumLength: 64),
                row.topic?.printable(maximumLength: 64) ?? "*", row.endpoint?.printable(maximumLength: 64) ?? "*",
            ]
        }
        let heading = ["TOKEN", "REASON", "SINCE", "LEARNT", "ROUTE", "TOPIC", "ENDPOINT"]
        return Columns.text((withHeading ? [heading] : []) + cells)
    }

    /// "Unregistered since 2026-…, learnt 2026-… on route default"
    var words: String {
        "\(reason.printable(maximumLength: 64)) since \(since.text), learnt "
            + "\(learntAt.text) on route \(route.printable(maximumLength: 64)), for "
            + "\(topic?.printable(maximumLength: 64) ?? "every topic") at "
            + "\(endpoint?.printable(maximumLength: 64) ?? "every service")"
    }
}
