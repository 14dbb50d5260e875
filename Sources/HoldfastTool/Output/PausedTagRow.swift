internal import HoldfastControl
internal import HoldfastService

/// Paused tags, as they are listed.
enum PausedTagRow {
    static func table(_ tags: [PausedTagForm], indent: String = "") -> String {
        let rows = tags.map { tag in
            [
                indent + tag.tag.text.printable(maximumLength: 256), tag.since.text, Format.count(tag.held),
                (tag.reason ?? "").printable(maximumLength: 512),
            ]
        }
        return Columns.text([["\(indent)PAUSED TAG", "SINCE", "WAITING", "BECAUSE"]] + rows, right: [2], widest: 40)
    }
}
