import ArgumentParser

/// What `Scripts/http2-faults` passes on.
struct FaultOptions: ParsableArguments {
    @Option(help: "Notifications in each trial; one in every hundred is to a bad token.")
    var count = 100_000
    @Option(help: "Trials at a time.")
    var jobs = 1
    @Option(name: .customLong("only"), help: "The faults to be tried, alone, with commas between them.")
    private var onlyText: String?
    @Option(name: .customLong("limit"), help: "How many seconds a trial may take.")
    private var limitSeconds = 300
    @Flag(name: .customLong("list"), help: "Only name the faults.")
    var isList = false
    @Flag(name: .customLong("verbose"), help: "The engine's own words on standard error.")
    var isVerbose = false

    var only: Set<String>? { onlyText.map { Set($0.split(separator: ",").map(String.init)) } }
    var limit: Duration { .seconds(limitSeconds) }

    func validate() throws {
        for (flag, value, range) in [
            ("count", count, 1000...10_000_000), ("jobs", jobs, 1...64), ("limit", limitSeconds, 1...86_400),
        ] where !range.contains(value) {
            throw ValidationError("--\(flag) must be \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
