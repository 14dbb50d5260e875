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
            was fixed. With --now, their routes try at once whatever they wait for, with the backoffs begun anew, and it \
            says within 10 s what came of that, with the codes of `holdfast routes connect --help`; with --fleet it does not.

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
            let (now, isFleet) = (now, fleetOptions.fleet)
            var change = LaneChoice.Change(pauses: false, reason: "", json: json) { desk, lane in
                try await desk.resume(lane)
                if now, isFleet { try await hurry(lane.route, desk) }
            }
            if now { change.afterwards = { desk, lanes in try await hurry(lanes, desk) } }
            return try await choice.change(placeOptions, fleetOptions, change)
        }
    }

    /// Of one of a fleet's journals, where nobody waits for what comes of it. Its lane may have no route.
    private func hurry(_ route: String, _ desk: any OperatorDesk) async throws {
        do {
            try await desk.connect(route: route)
        } catch let error as JournalError where error.code == .notFound {
        }
    }

    /// Says what came of each route's try. At rest nobody tries anything, and a lane may have no route: of those that are meant by
    /// name, that is said.
    private func hurry(_ lanes: [LaneKey], _ desk: any OperatorDesk) async throws -> ToolStatus {
        let meant = Set(lanes.map(\.route))
        let served = try await desk.status().routes.map(\.name)
        for route in meant.subtracting(served).sorted() where !choice.all {
            Console.standard.note("route \(route.printable(maximumLength: 64)) is not served, so it tries nothing")
        }
        return try await RouteTrial.run(served.filter(meant.contains), desk, json: json)
    }
}
