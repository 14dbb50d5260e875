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

/// A journal whose owner has not answered.
struct SilentForm: Encodable {
    var place: FleetPlaceForm
    var why: String

    private enum CodingKeys: String, CodingKey { case error }

    /// In one object.
    func encode(to encoder: any Encoder) throws {
        try place.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(why, forKey: .error)
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
