import ArgumentParser

/// What `Scripts/binary-faults` passes on.
struct FaultOptions: ParsableArguments {
    @Option(help: "In each trial; one in every thousand is to a bad token.")
    var notifications = 100_000
    @Option(help: "Of each connection.")
    var window = 20_000
    @Option(name: .customLong("quiet"), help: "Milliseconds of silence that confirm.")
    private var quietMilliseconds = 3000
    @Option(help: "Trials at a time.")
    var jobs = 1
    @Option(help: "The fault to be tried, alone.")
    var only: String?
    @Option(name: .customLong("limit"), help: "How many seconds a trial may take.")
    private var limitSeconds = 300
    @Flag(name: .customLong("half"), help: "Half the trials: barriers over four connections, silence over one.")
    var isHalf = false
    @Flag(name: .customLong("verbose"), help: "The engine's own words on standard error.")
    var isVerbose = false

    var quietPeriod: Duration { .milliseconds(quietMilliseconds) }
    var limit: Duration { .seconds(limitSeconds) }

    func validate() throws {
        for (flag, value, range) in [
            ("notifications", notifications, 2000...10_000_000), ("window", window, 10...1_000_000),
            ("quiet", quietMilliseconds, 10...600_000), ("jobs", jobs, 1...64), ("limit", limitSeconds, 1...86_400),
        ] where !range.contains(value) {
            throw ValidationError("--\(flag) must be \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
