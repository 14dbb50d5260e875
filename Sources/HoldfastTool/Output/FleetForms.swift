internal import Holdfast
internal import HoldfastControl
internal import HoldfastPostgres
internal import HoldfastService

extension FleetPlaceForm {
    /// In front of the columns of a table.
    static let heading = ["JOURNAL", "HOST"]

    var cells: [String] { [journal.printable(maximumLength: 64), host?.printable(maximumLength: 64) ?? ""] }

    /// For people: `web-1 on alpha`.
    var words: String {
        journal.printable(maximumLength: 64) + (host.map { " on \($0.printable(maximumLength: 64))" } ?? "")
    }
}

/// A line of JSON, with the journal and the host that it is from.
struct PlacedForm<Value: Encodable>: Encodable {
    /// `nil` for the journal that the command is about.
    var place: FleetPlaceForm?
    var value: Value

    /// In one object.
    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        try place?.encode(to: encoder)
    }
}

extension FleetAsking.Answers {
    /// The last lines: which journals have not answered.
    ///
    /// - Parameter order: the number of an order that they carry out later.
    /// - Returns: the command's status if it would end with `status`.
    func tellSilent(
        json: Bool, status: ToolStatus = .ok, order: Int64? = nil, console: Console = .standard
    ) throws -> ToolStatus {
        for silence in silent {
            let (place, why) = (silence.place, silence.reason.words(order: order))
            if json { console.print(try JSONOutput.line(SilentForm(place: place, why: why))) }
            console.error("journal \(place.journal)\(place.host.map { " of host \($0)" } ?? "") did not answer: \(why)")
        }
        if answers.isEmpty, silent.isEmpty {
            let kept = order.map { ": order \($0) is kept, and carried out at each that comes" } ?? ""
            console.note("no journal of the fleet is served now\(kept)")
        }
        return silent.isEmpty ? status : max(status, .hostSilent)
    }
}
