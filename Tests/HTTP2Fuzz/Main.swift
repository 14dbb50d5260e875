import ArgumentParser
import Trials

/// Plays a hostile server to client sessions and a hostile client to server sessions, at random, and holds both to what
/// must be true whatever the peer does. `Scripts/fuzz-http2` runs it at length.
@main struct HTTP2Fuzz: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fuzz-http2")

    @OptionGroup var options: FuzzOptions

    @Flag(name: .customLong("floods"), help: "The cost of each flood instead: a table.")
    var measuresFloods = false

    func run() throws {
        if measuresFloods {
            if FloodCosts.run() { return }
            throw ExitCode.failure
        }
        // A trial takes milliseconds; one that takes so long hangs, or its peer has made it work for nothing.
        let campaign = FuzzCampaign(options, trials: 2000, trialLimit: .seconds(20), memoryLimit: 400_000)
        var tally = Tally()
        let outcome = try campaign.run { number, seed in try Self.one(number, seed: seed, &tally) }
        try SummaryLine(outcome, tally).show()
        if outcome.breaches > 0 { throw ExitCode.failure }
    }

    private static func one(_ trial: Int, seed: UInt64, _ tally: inout Tally) throws(Breach) {
        let temper = Temper.allCases[trial / 3 % Temper.allCases.count]
        switch trial % 3 {
        case 0:
            var client = ClientTrial(temper, seed: seed)
            try client.run(&tally)
        case 1:
            var server = ServerTrial(temper, seed: seed)
            try server.run(&tally)
        default: try SplitTrial.run(seed: seed, &tally)
        }
    }
}
