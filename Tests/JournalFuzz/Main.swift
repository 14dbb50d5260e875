import Foundation
import Holdfast

/// Damages journals at random, and holds what verification and salvage make of them against what was there.
/// `Scripts/fuzz-verify` runs it at length.
@main struct JournalFuzz {
    struct Options {
        var seed = UInt64.random(in: 0...UInt64.max)
        var trials = 200
        /// Every so manieth trial salvages as well.
        var salvageEvery = 4
        var only: Int?
    }

    static func main() {
        do {
            let options = try options(CommandLine.arguments.dropFirst())
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
            guard let value = rest.popFirst().flatMap({ UInt64($0) }) else { throw Failure("\(name) needs a number") }
            switch name {
            case "--seed": options.seed = value
            case "--trials": options.trials = Int(clamping: value)
            case "--salvage-every": options.salvageEvery = max(1, Int(clamping: value))
            case "--only": options.only = Int(clamping: value)
            default: throw Failure("\(name) is not known; --seed --trials --salvage-every --only are")
            }
        }
        return options
    }

    private static func run(_ options: Options) throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        say("seed \(options.seed)")
        let begin = ContinuousClock.now
        let journals = try FuzzJournal.all(in: folder.path)
        var tally = Tally()
        for trial in options.only.map({ [$0] }) ?? Array(0..<options.trials) {
            var random = Xoshiro256(seed: options.seed &+ UInt64(trial) &* 0x9E37_79B9_7F4A_7C15)
            let start = ContinuousClock.now
            do {
                try Trial(
                    journals[trial % journals.count], in: folder.path, salvages: trial % options.salvageEvery == 0
                ).run(&random, &tally)
            } catch {
                tally.breaches += 1
                say("breach: --seed \(options.seed) --only \(trial): \(error)")
            }
            let spent = ContinuousClock.now - start
            tally.slowest = max(tally.slowest, spent)
            if spent > Trial.limit {
                tally.breaches += 1
                say("breach: --seed \(options.seed) --only \(trial): took \(spent)")
            }
        }
        let peak = try Memory.peakKilobytes()
        if peak > Memory.limitKilobytes {
            tally.breaches += 1
            say("breach: \(peak) KB of memory at the peak")
        }
        print(
            "{\"trials\":\(options.only == nil ? options.trials : 1),\"damaged\":\(tally.damaged),\"sound\":\(tally.sound),"
                + "\"salvages\":\(tally.salvages),\"breaches\":\(tally.breaches),\"peakKilobytes\":\(peak),"
                + "\"slowestMilliseconds\":\(Int(tally.slowest / .milliseconds(1))),"
                + "\"seconds\":\(Int((ContinuousClock.now - begin) / .seconds(1)))}")
        return tally.breaches == 0
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What the trials came to.
struct Tally {
    /// Called damaged.
    var damaged = 0
    /// Called sound, and found to be so.
    var sound = 0
    var salvages = 0
    var breaches = 0
    var slowest: Duration = .zero
}

enum Memory {
    /// Far more than it takes, far less than a file could make a careless reader ask for.
    static let limitKilobytes = 600_000

    static func peakKilobytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
