internal import ArgumentParser

/// All journals of the fleet at once.
struct FleetOptions: ParsableArguments {
    @Flag(
        name: .long,
        help: """
            Ask the owners of all journals of the fleet, and name journal and host with each answer.
            """)
    var fleet = false

    /// - Throws: a `ValidationError` when a journal is named as well.
    func check(_ place: PlaceOptions) throws {
        guard fleet, place.journalOptions.journal != nil || place.journalName != nil else { return }
        throw ValidationError("--fleet is for all journals: leave --journal and --journal-name out.")
    }

    func asking(_ place: PlaceOptions) throws -> FleetAsking {
        FleetAsking(register: try place.register(), timeout: place.timeout ?? .seconds(10))
    }
}
