internal import ArgumentParser
internal import Holdfast

/// Why an operator pauses something.
struct PauseReasonOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The reason, which listings show.", valueName: "text"))
    var reason = ""

    func validate() throws {
        guard reason.utf8.count <= LaneState.longestReason else {
            throw ValidationError("--reason has at most \(LaneState.longestReason) bytes.")
        }
    }
}
