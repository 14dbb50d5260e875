/// A journal whose owner has not answered.
package struct SilentForm: Encodable {
    package var place: FleetPlaceForm
    package var why: String

    package init(place: FleetPlaceForm, why: String) { (self.place, self.why) = (place, why) }

    private enum CodingKeys: String, CodingKey { case error }

    /// In one object.
    package func encode(to encoder: any Encoder) throws {
        try place.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(why, forKey: .error)
    }
}
