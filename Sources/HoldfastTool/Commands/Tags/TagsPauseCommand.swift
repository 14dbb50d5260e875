internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct TagsPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause tags: no notification with them is sent until they are resumed.",
        discussion: """
            All others go on. Those in flight get their answers; all others with the tag wait in the journal, also those \
            that are accepted later. The pause outlasts restarts. What waits can be dropped: holdfast journal drop \
            --tag TAG

            Examples:
              holdfast tags pause spring-sale --reason "wrong price"
              holdfast tags pause spring-sale --fleet
            """)

    @Argument(help: ArgumentHelp("The tag, exactly as the notifications have it.", valueName: "tag"))
    var tags: [String]

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @OptionGroup var why: PauseReasonOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        for tag in tags where !(1...256).contains(tag.utf8.count) {
            throw ValidationError("A tag has 1 to 256 bytes, not \(tag.utf8.count).")
        }
        try fleetOptions.check(placeOptions)
    }

    func run() async throws {
        try await reporting {
            let (tags, reason, json) = (tags, why.reason, json)
            @Sendable func pause(_ desk: any OperatorDesk, _ place: FleetPlaceForm?) async throws {
                for tag in tags.map({ Array($0.utf8) }) {
                    try await desk.pause(tag: tag, reason: reason)
                    try TagsPauseCommand.tell(TagChangeForm(tag, "paused", reason: reason), at: place, json: json)
                }
            }
            if fleetOptions.fleet {
                return try await fleetOptions.asking(placeOptions).each { try await pause($0, $1) }.tellSilent(
                    json: json)
            }
            try await DeskOpener(try placeOptions.place()).withDesk { try await pause($0, nil) }
            return .ok
        }
    }

    static func tell(_ change: TagChangeForm, at place: FleetPlaceForm?, json: Bool) throws {
        let name = change.tag.map { $0.text.printable(maximumLength: 256) } ?? "all tags"
        let words = (place.map { "\($0.words): " } ?? "") + "\(name): \(change.state)"
        Console.standard.print(json ? try JSONOutput.line(PlacedForm(place: place, value: change)) : words)
    }
}

struct TagsResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume paused tags.",
        discussion: """
            What waits for them goes in its order, beside everything else.

            Examples:
              holdfast tags resume spring-sale
              holdfast tags resume --all
              holdfast tags resume spring-sale --fleet
            """)

    @Argument(help: ArgumentHelp("The tag, exactly as the notifications have it.", valueName: "tag"))
    var tags: [String] = []

    @Flag(name: .long, help: "All paused tags; at rest also if the journal's record of them can't be read.")
    var all = false

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard all != !tags.isEmpty else { throw ValidationError("Name tags, or say --all.") }
        try fleetOptions.check(placeOptions)
    }

    func run() async throws {
        try await reporting {
            if fleetOptions.fleet { return try await resumeFleet() }
            try await DeskOpener(try placeOptions.place()).withDesk { desk in
                if all {
                    try await desk.resumeAllTags()
                    try TagsPauseCommand.tell(TagChangeForm(nil, "running"), at: nil, json: json)
                }
                for tag in tags {
                    try await desk.resume(tag: Array(tag.utf8))
                    try TagsPauseCommand.tell(TagChangeForm(Array(tag.utf8), "running"), at: nil, json: json)
                }
            }
            return .ok
        }
    }

    /// A tag may be paused in some of the journals.
    private func resumeFleet() async throws -> ToolStatus {
        let (all, tags, json) = (all, tags, json)
        let answers = try await fleetOptions.asking(placeOptions).each { desk, place in
            let paused = try await desk.status().pausedTags.map(\.tag)
            let meant = all ? paused : tags.map { Array($0.utf8) }.filter(paused.contains)
            for tag in meant {
                try await desk.resume(tag: tag)
                try TagsPauseCommand.tell(TagChangeForm(tag, "running"), at: place, json: json)
            }
            return meant
        }
        let resumed = answers.answers.flatMap(\.value)
        var status = ToolStatus.ok
        for tag in tags where !resumed.contains(Array(tag.utf8)) {
            Console.standard.error("tag \(tag.debugDescription) is paused in no journal that answered")
            status = .noInput
        }
        return try answers.tellSilent(json: json, status: status)
    }
}
