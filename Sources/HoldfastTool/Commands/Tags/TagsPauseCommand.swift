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
            if fleetOptions.fleet { return try await pauseFleet(pause) }
            try await DeskOpener(try placeOptions.place()).withDesk { try await pause($0, nil) }
            return .ok
        }
    }

    /// - Parameter pause: at an owner that does not know orders to the fleet.
    private func pauseFleet(
        _ pause: @escaping @Sendable (any OperatorDesk, FleetPlaceForm?) async throws -> Void
    ) async throws -> ToolStatus {
        let (tags, reason, json) = (tags.map { Array($0.utf8) }, why.reason, json)
        let asking = try fleetOptions.asking(placeOptions)
        // First of all, so that whoever takes a journal from now on knows of it.
        let given = try await FleetOrdering(register: asking.register).give(
            tags.map { .tags($0) }, pausing: true, reason: reason)
        let answers = try await asking.each { desk, place in
            guard try await given.carryOut(desk) else { return try await pause(desk, place) }
            for tag in tags {
                try TagsPauseCommand.tell(TagChangeForm(tag, "paused", reason: reason), at: place, json: json)
            }
        }
        return try answers.tellSilent(json: json, order: given.number)
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
        let (all, tags, json) = (all, tags.map { Array($0.utf8) }, json)
        let asking = try fleetOptions.asking(placeOptions)
        let before = try await asking.each { desk, place in
            let paused = try await desk.status().pausedTags.map(\.tag)
            return [place.journal: all ? paused : tags.filter(paused.contains)]
        }
        let meant = before.answers.map(\.value).reduce(into: [:]) { $0.merge($1) { $1 } }
        let ordering = FleetOrdering(register: asking.register)
        let given = try await ordering.give(all ? [.tags(nil)] : tags.map { .tags($0) }, pausing: false)
        let answers = try await asking.each { desk, place in
            let isCarriedOut = try await given.carryOut(desk)
            for tag in meant[place.journal] ?? [] {
                if !isCarriedOut { try await desk.resume(tag: tag) }
                try TagsPauseCommand.tell(TagChangeForm(tag, "running"), at: place, json: json)
            }
        }
        let resumed = meant.values.flatMap(\.self)
        let unknown = tags.indices.filter { !given.endings.contains($0) && !resumed.contains(tags[$0]) }
        // Of a journal that did not answer, nobody knows what was paused there: then the order is kept.
        let isKnown = before.silent.isEmpty && answers.silent.isEmpty
        guard !unknown.isEmpty, isKnown else { return try answers.tellSilent(json: json, order: given.number) }
        for place in unknown {
            Console.standard.error("tag \(self.tags[place].debugDescription) is paused in no journal")
        }
        try await ordering.withdraw(given, unknown)
        return .noInput
    }
}
