import Foundation

/// What storage may do to a journal, and what the journal makes of it. `Scripts/power-loss` runs it.
@main struct StorageFaults {
    static func main() {
        do {
            let options = try Arguments(CommandLine.arguments.dropFirst())
            exit(try run(options) ? 0 : 1)
        } catch {
            say("error: \(error)")
            exit(2)
        }
    }

    static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    private static func run(_ options: Arguments) throws -> Bool {
        let begin = ContinuousClock.now
        var summary: [String: Any] = ["seed": options.seed, "rounds": options.rounds]
        var breaches: [String] = []
        if options.parts.contains("power") { breaches += try powerLoss(options, &summary) }
        if options.parts.contains("faults") { breaches += try faults(options, &summary) }
        if let directory = options.fullDisk {
            do {
                let result = try FullDisk(directory: directory).run()
                summary["fullDiskAccepted"] = result.accepted
                summary["fullDiskDrained"] = result.refused
                say("full disk: filled to refusal and drained \(result.refused) times, \(result.accepted) accepted")
            } catch {
                breaches.append("on a full file system: \(error)")
            }
        }
        summary["seconds"] = Int((ContinuousClock.now - begin) / .seconds(1))
        summary["breaches"] = breaches.count
        for breach in breaches { say("breach: \(breach)") }
        let json = try JSONSerialization.data(withJSONObject: summary, options: [.sortedKeys])
        print(String(decoding: json, as: UTF8.self))
        return breaches.isEmpty
    }

    private static func faults(_ options: Arguments, _ summary: inout [String: Any]) throws -> [String] {
        var total = FaultTour.Result()
        for round in 0..<options.rounds {
            let seed = options.seed &+ UInt64(round)
            let tour = FaultTour(
                work: FaultRun(seed: seed, steps: options.faultSteps, cuts: options.cuts), wanted: options.faults,
                onlyFault: options.onlyFault, onlyKind: options.onlyKind)
            let result = try tour.run()
            total.add(result)
            say(
                "storage faults: seed \(seed): \(result.faults) faults struck in \(result.runs) runs, of "
                    + "\(result.possible) possible (\(result.options)); \(result.overtakings) requests went before the end of "
                    + "another; \(result.cuts) losses of power behind them; \(result.breaches.count) breaches")
        }
        summary["faultRuns"] = total.runs
        summary["faultsStruck"] = total.faults
        summary["faultsPossible"] = total.possible
        summary["overtakingsInFaultRuns"] = total.overtakings
        summary["powerLossesAfterFaults"] = total.cuts
        return total.breaches
    }

    private static func powerLoss(_ options: Arguments, _ summary: inout [String: Any]) throws -> [String] {
        var total = PowerLossRun.Result()
        for round in 0..<options.rounds {
            let seed = options.seed &+ UInt64(round)
            let run = PowerLossRun(
                seed: seed, size: .init(steps: options.steps), wantedStates: options.states,
                onlyState: options.onlyState, diskLies: options.diskLies)
            let result = try run.run()
            total.states += result.states
            total.secondCuts += result.secondCuts
            total.syncPoints += result.syncPoints
            total.writes += result.writes
            total.requests += result.requests
            total.overtakings += result.overtakings
            total.overtakenStates += result.overtakenStates
            total.breaches += result.breaches
            say(
                "power loss: seed \(seed): \(result.states) states, \(result.secondCuts) of a second loss, from "
                    + "\(result.syncPoints) sync points and \(result.writes) writes (\(result.options)); "
                    + "\(result.overtakings) requests went before the end of another, "
                    + "\(result.overtakenStates) states in the midst of that; \(result.breaches.count) breaches")
        }
        summary["powerLossStates"] = total.states
        summary["secondLosses"] = total.secondCuts
        summary["syncPoints"] = total.syncPoints
        summary["writes"] = total.writes
        summary["overtakings"] = total.overtakings
        summary["overtakenStates"] = total.overtakenStates
        return total.breaches
    }
}

/// `--seed S --rounds R --states N --steps N --parts power,faults,full --state N --faults N --fault-steps N --cuts N --fault N`
struct Arguments {
    var seed = UInt64.random(in: 1...999_999)
    var rounds = 1
    var states = 300
    var steps = 60
    var parts: Set<String> = ["power", "faults"]
    var onlyState: Int?
    var faults = 400
    var faultSteps = 24
    var cuts = 3
    var onlyFault: Fault?
    /// A directory on a small file system, to be filled.
    var fullDisk: String?
    /// Only faults of calls of this kind.
    var onlyKind: Recorder.Kind?
    /// Power is lost on a disk that says it has synced and has not: there must be breaches.
    var diskLies = false

    init(_ words: ArraySlice<String>) throws {
        var words = words
        while let name = words.popFirst() {
            guard let value = words.popFirst() else { throw Breach("\(name) wants a value") }
            if name == "--full-disk" {
                fullDisk = value
                continue
            }
            if name == "--fault" {
                onlyFault = Fault(name: value)
                continue
            }
            if name == "--kind" {
                onlyKind = Recorder.Kind(named: value)
                continue
            }
            if name == "--parts" {
                parts = Set(value.split(separator: ",").map(String.init))
                continue
            }
            guard let number = UInt64(value) else { throw Breach("\(name) wants a number, not \(value)") }
            switch name {
            case "--seed": seed = number
            case "--rounds": rounds = Int(number)
            case "--states": states = Int(number)
            case "--steps": steps = Int(number)
            case "--lying-disk": diskLies = number == 1
            case "--state": onlyState = Int(number)
            case "--faults": faults = Int(number)
            case "--fault-steps": faultSteps = Int(number)
            case "--cuts": cuts = Int(number)
            default: throw Breach("\(name) is not known")
            }
        }
    }
}
