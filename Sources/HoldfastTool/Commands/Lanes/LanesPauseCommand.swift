internal import ArgumentParser
internal import Holdfast
internal import HoldfastService

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
            was fixed. With --now, their routes try at once whatever they wait for, with the backoffs begun anew: see \
            `holdfast routes connect --help`.

            Examples:
              holdfast lanes resume default/considerate
              holdfast lanes resume default --now
              holdfast lanes resume --all
              holdfast lanes resume --all --fleet
            """)

    @OptionGroup var choice: LaneChoice
    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @Flag(name: .long, help: "Have the lanes' routes try at once, without waiting for their backoffs.")
    var now = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws { try fleetOptions.check(placeOptions) }

    func run() async throws {
        try await reporting {
            let told = Monitor<Set<String>>([])
            return try await choice.change(
                placeOptions, fleetOptions,
                LaneChoice.Change(pauses: false, reason: "", json: json) { desk, lane in
                    try await desk.resume(lane)
                    if now { try await hurry(lane.route, desk, told) }
                })
        }
    }

    /// At rest nobody waits for anything, and a lane may have no route: of those that are meant by name, that is said.
    private func hurry(_ route: String, _ desk: any OperatorDesk, _ told: Monitor<Set<String>>) async throws {
        do {
            try await desk.connect(route: route)
        } catch let error as JournalError where error.code == .notFound {
            guard !choice.all, told.withLock({ $0.insert(route).inserted }) else { return }
            Console.standard.note("route \(route.printable(maximumLength: 64)) is not served, so it tries nothing")
        }
    }
}
