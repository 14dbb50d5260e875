internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastPostgres
internal import HoldfastService

struct TagsPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause tags: no notification with them is sent until they are resumed.",
        discussion: """
            All others go on. Those in flight get their answers; all others with the tag wait in the journal, also those \
            that are accepted later. The pause outlasts restarts. With --fleet it is kept for all journals, also for those of \
            hosts that come later, until it is resumed there. What waits can be dropped: holdfast journal drop \
            --tag TAG

            Examples:
              holdfast tags pause spring-sale --reason "wrong price"
              holdfast tags pause spring-sale --fleet
            """)

    @OptionGroup var named: TagArguments

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @OptionGroup var why: PauseReasonOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard !named.isEmpty else { throw ValidationError("Name tags to pause.") }
        try fleetOptions.check(placeOptions)
    }

    func run() async throws {
        try await reporting {
            let (tags, reason, json) = (named.all, why.reason, json)
            if fleetOptions.fleet { return try await pauseFleet() }
            try await DeskOpener(try placeOptions.place()).withDesk { desk in
                for tag in tags {
                    try await desk.pause(tag: tag, reason: reason)
                    try TagsPauseCommand.tell(TagChangeForm(tag, "paused", reason: reason), at: nil, json: json)
                }
            }
            return .ok
        }
    }

    private func pauseFleet() async throws -> ToolStatus {
        let (tags, reason, json) = (named.all, why.reason, json)
        let asking = try fleetOptions.asking(placeOptions)
        let done = try await FleetOrdering(asking, who: asking.register.user).pause(tags: tags, reason: reason) {
            place in
            for tag in tags {
                try TagsPauseCommand.tell(TagChangeForm(tag, "paused", reason: reason), at: place, json: json)
            }
        }
        return try done.answers.tellSilent(json: json, order: done.number)
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

    @OptionGroup var named: TagArguments

    @Flag(name: .long, help: "All paused tags; at rest also if the journal's record of them can't be read.")
    var all = false

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard all == named.isEmpty else { throw ValidationError("Name tags, or say --all.") }
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
                for tag in named.all {
                    try await desk.resume(tag: tag)
                    try TagsPauseCommand.tell(TagChangeForm(tag, "running"), at: nil, json: json)
                }
            }
            return .ok
        }
    }

    /// A tag may be paused in some of the journals.
    private func resumeFleet() async throws -> ToolStatus {
        let json = json
        let asking = try fleetOptions.asking(placeOptions)
        let done = try await FleetOrdering(asking, who: asking.register.user).resume(
            tags: all ? nil : named.all
        ) { tag, place in
            try TagsPauseCommand.tell(TagChangeForm(tag, "running"), at: place, json: json)
        }
        for tag in done.slips {
            let name = String(decoding: tag, as: UTF8.self)
            Console.standard.error("tag \(name.debugDescription) is paused in no journal")
        }
        return try done.answers.tellSilent(
            json: json, status: done.slips.isEmpty ? .ok : .noInput, order: done.number)
    }
}
