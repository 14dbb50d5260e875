import Foundation

/// Plays a hostile server to client sessions and a hostile client to server sessions, at random, and holds both to what
/// must be true whatever the peer does. `Scripts/fuzz-http2` runs it at length.
@main struct HTTP2Fuzz {
    struct Options {
        var seed = UInt64.random(in: 0...UInt64.max)
        var trials = 2000
        /// Goes on until so many seconds are over; then `trials` does not count.
        var seconds: Int?
        var only: Int?
        /// The cost of each flood instead: a table.
        var measuresFloods = false
    }

    static func main() {
        do {
            let options = try options(CommandLine.arguments.dropFirst())
            if options.measuresFloods { exit(FloodCosts.run() ? 0 : 1) }
            exit(try run(options) ? 0 : 1)
        } catch {
            say("error: \(error)")
            exit(2)
        }
    }

    static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    private static func options(_ arguments: ArraySlice<String>) throws -> Options {
        var options = Options()
        var rest = arguments
        while let name = rest.popFirst() {
            if name == "--floods" {
                options.measuresFloods = true
                continue
            }
            guard let value = rest.popFirst().flatMap({ UInt64($0) }) else { throw Breach("\(name) needs a number") }
            switch name {
            case "--seed": options.seed = value
            case "--trials": options.trials = Int(clamping: value)
            case "--seconds": options.seconds = Int(clamping: value)
            case "--only": options.only = Int(clamping: value)
            default: throw Breach("\(name) is not known; --seed --trials --seconds --only --floods are")
            }
        }
        return options
    }

    /// A trial takes milliseconds; one that takes this long hangs, or its peer has made it work for nothing.
    private static let trialLimit = Duration.seconds(20)

    private static func run(_ options: Options) throws -> Bool {
        say("seed \(options.seed)")
        let begin = ContinuousClock.now
        var tally = Tally()
        var trial = options.only ?? 0
        while isWanted(trial, options, begin) {
            let start = ContinuousClock.now
            do throws(Breach) {
                try one(trial, seed: options.seed &+ UInt64(trial) &* 0x9E37_79B9_7F4A_7C15, &tally)
            } catch {
                tally.breaches += 1
                say("breach: --seed \(options.seed) --only \(trial): \(error)")
            }
            let spent = ContinuousClock.now - start
            tally.slowest = max(tally.slowest, spent)
            if spent > trialLimit {
                tally.breaches += 1
                say("breach: --seed \(options.seed) --only \(trial): took \(spent)")
            }
            tally.trials += 1
            trial += 1
        }
        let peak = try Memory.peakKilobytes()
        if peak > Memory.limitKilobytes {
            tally.breaches += 1
            say("breach: \(peak) KB of memory at the peak")
        }
        report(tally, peak, ContinuousClock.now - begin)
        return tally.breaches == 0
    }

    private static func isWanted(_ trial: Int, _ options: Options, _ begin: ContinuousClock.Instant) -> Bool {
        if let only = options.only { return trial == only }
        if let seconds = options.seconds { return ContinuousClock.now - begin < .seconds(seconds) }
        return trial < options.trials
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

    private static func report(_ tally: Tally, _ peak: Int, _ time: Duration) {
        let codes = tally.codes.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        print(
            "{\"trials\":\(tally.trials),\"failed\":\(tally.failed),\"messages\":\(tally.messages),"
                + "\"bytes\":\(tally.bytes),\"breaches\":\(tally.breaches),\"mostHeld\":\(tally.mostHeld),"
                + "\"codes\":{\(codes)},\"peakKilobytes\":\(peak),"
                + "\"slowestMilliseconds\":\(Int(tally.slowest / .milliseconds(1))),"
                + "\"seconds\":\(Int(time / .seconds(1)))}")
    }
}

enum Memory {
    /// Far more than any session may hold, far less than a peer could ask a careless one for.
    static let limitKilobytes = 400_000

    static func peakKilobytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
