import HoldfastTesting

/// The command line.
struct SimulatorOptions: Sendable {
    enum Role: Sendable {
        case one(UInt64)
        case worker
        case supervisor
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    static let usage = """
        simulate [--seeds N] [--from S] [--jobs J] [--keep-going] | --seed S [--verbose]
          --seeds N      how many seeds (default 1000)
          --from S       the first seed (default 1)
          --jobs J       how many at a time (default: the number of processors)
          --keep-going   does not stop at the first failures
          --journal J    memory, lmdb or both: one seed in four on the real journal (default: both)
          --seed S       replays one seed; with --verbose it says everything that happens
        """

    /// On which journal the seeds run.
    enum Medium: String, Sendable {
        case memory, lmdb, both

        /// The journal of one seed.
        func simulation(of seed: UInt64) -> Simulation {
            let isReal = self == .lmdb || self == .both && seed.isMultiple(of: 4)
            return isReal ? Simulation(seed: seed, on: { try LMDBDisk(seed: $0) }) : Simulation(seed: seed)
        }
    }

    var medium = Medium.both
    var role = Role.supervisor
    var seeds: UInt64 = 1000
    var from: UInt64 = 1
    var jobs: Int?
    var keepsGoing = false
    var isVerbose = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--seeds": seeds = try Self.number(of: argument, &rest)
            case "--from": from = try Self.number(of: argument, &rest)
            case "--jobs": jobs = Int(try Self.number(of: argument, &rest))
            case "--seed": role = .one(try Self.number(of: argument, &rest))
            case "--journal":
                guard let medium = rest.popFirst().flatMap({ Medium(rawValue: $0) }) else {
                    throw Fault(description: "--journal is memory, lmdb or both")
                }
                self.medium = medium
            case "--worker": role = .worker
            case "--keep-going": keepsGoing = true
            case "--verbose": isVerbose = true
            default: throw Fault(description: "unknown argument \(argument)")
            }
        }
    }

    private static func number(of name: String, _ rest: inout ArraySlice<String>) throws -> UInt64 {
        guard let text = rest.popFirst(), let number = UInt64(text) else {
            throw Fault(description: "\(name) needs a number")
        }
        return number
    }
}
