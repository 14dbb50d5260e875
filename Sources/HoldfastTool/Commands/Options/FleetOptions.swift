internal import ArgumentParser
internal import HoldfastService

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
        let console = Console.standard
        var asking = FleetAsking(register: try place.register(), timeout: place.timeout ?? .seconds(10))
        asking.onProgress = { done, total in
            console.showStatus(done < total ? "asked: \(done) of \(total)" : "")
        }
        asking.explain = { ToolError($0, otherwise: .internalFault).message }
        return asking
    }
}
