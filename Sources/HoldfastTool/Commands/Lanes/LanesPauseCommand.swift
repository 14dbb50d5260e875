internal import ArgumentParser
internal import Holdfast

struct LanesPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause lanes: nothing of them is sent until they are resumed.",
        discussion: """
            Notifications in flight get their answers; accepted ones wait in the journal. The pause outlasts restarts. With \
            --fleet it is kept for all journals, also for those of hosts that come later, until it is resumed there.

            Examples:
              holdfast lanes pause default/considerate --reason "incident 4711"
              holdfast lanes pause --all --reason maintenance
              holdfast lanes pause --all --fleet --reason "incident 4711"
            """)

    @OptionGroup var choice: LaneChoice
    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @OptionGroup var why: PauseReasonOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws { try fleetOptions.check(placeOptions) }

    func run() async throws {
        try await reporting {
            let reason = why.reason
            return try await choice.change(
                placeOptions, fleetOptions,
                LaneChoice.Change(pauses: true, reason: reason, json: json) { desk, lane in
                    try await desk.pause(lane, reason: reason)
                })
        }
    }
}

struct LanesResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume paused or stopped lanes.",
        discussion: """
            A lane that had stopped, for example because its credentials were refused, stops again unless the cause \
            was fixed.

            Examples:
              holdfast lanes resume default/considerate
              holdfast lanes resume --all
              holdfast lanes resume --all --fleet
            """)

    @OptionGroup var choice: LaneChoice
    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws { try fleetOptions.check(placeOptions) }

    func run() async throws {
        try await reporting {
            try await choice.change(
                placeOptions, fleetOptions,
                LaneChoice.Change(pauses: false, reason: "", json: json) { desk, lane in
                    try await desk.resume(lane)
                })
        }
    }
}
