internal import HoldfastControl
internal import HoldfastService

/// Paused tags, as they are listed.
enum PausedTagRow {
    static func table(_ tags: [PausedTagForm], indent: String = "") -> String {
        let rows = tags.map { tag in [indent + name(tag)] + cells(tag) }
        return Columns.text([["\(indent)PAUSED TAG"] + heading] + rows, right: [2], widest: 40)
    }

    /// Of several journals.
    static func table(_ journals: [(place: FleetPlaceForm, tags: [PausedTagForm])]) -> String {
        let rows = journals.flatMap { journal in
            journal.tags.map { journal.place.cells + [name($0)] + cells($0) }
        }
        return Columns.text(
            [FleetPlaceForm.heading + ["PAUSED TAG"] + heading] + rows, right: [4], widest: 40)
    }

    private static let heading = ["SINCE", "WAITING", "BECAUSE"]

    private static func name(_ tag: PausedTagForm) -> String { tag.tag.text.printable(maximumLength: 256) }

    private static func cells(_ tag: PausedTagForm) -> [String] {
        [tag.since.text, Format.count(tag.held), (tag.reason ?? "").printable(maximumLength: 512)]
    }
}
