internal import ArgumentParser
internal import Holdfast

struct LanesPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Let nothing more of some lanes go out, until they are resumed.",
        discussion: """
            What is in flight gets its answers; what is accepted waits in the journal. A paused lane is paused after a restart \
            too.

            Examples:
              holdfast lanes pause default/considerate --reason "marketing waits until the incident is over"
              holdfast lanes pause --all --reason maintenance
            """)

    @OptionGroup var choice: LaneChoice
    @OptionGroup var journalOptions: JournalOptions

    @Option(name: .long, help: ArgumentHelp("Why, for those who look.", valueName: "text"))
    var reason = ""

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard reason.utf8.count <= LaneState.longestReason else {
            throw ValidationError("--reason has at most \(LaneState.longestReason) bytes.")
        }
    }

    func run() async throws {
        try await reporting {
            try await choice.change(try journalOptions.path(), to: "paused", reason: reason, json: json) { desk, lane in
                try await desk.pause(lane, reason: reason)
            }
        }
    }
}

struct LanesResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let paused or stopped lanes run again.",
        discussion: """
            A lane that was stopped, because its credentials were refused for example, stops again when the cause is not \
            mended.

            Examples:
              holdfast lanes resume default/considerate
              holdfast lanes resume --all
            """)

    @OptionGroup var choice: LaneChoice
    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws {
        try await reporting {
            try await choice.change(try journalOptions.path(), to: "running", reason: "", json: json) { desk, lane in
                try await desk.resume(lane)
            }
        }
    }
}
