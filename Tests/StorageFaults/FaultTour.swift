import Foundation
import Holdfast

/// Every call of a fixed piece of work made to fail in turn, with every error; or as many of these as are wanted, spread
/// over all of them.
struct FaultTour {
    struct Result: Sendable {
        var possible = 0
        var runs = 0
        /// Runs in which the call came, and failed.
        var faults = 0
        var cuts = 0
        var overtakings = 0
        var breaches: [String] = []
        /// How the journal was kept, in words.
        var options = ""

        mutating func add(_ other: Result) {
            possible += other.possible
            runs += other.runs
            faults += other.faults
            cuts += other.cuts
            overtakings += other.overtakings
            breaches += other.breaches
        }
    }

    let work: FaultRun
    /// 0 for all.
    let wanted: Int
    /// Only this one: to look at a breach again.
    let onlyFault: Fault?
    /// Only those of calls of this kind.
    var onlyKind: Recorder.Kind?

    func run() throws -> Result {
        Recorder.watch("seed \(work.seed), counting calls", seconds: 60)
        let faults = try onlyFault.map { fault in [fault] } ?? Self.faults(try work.count())
        var result = Result()
        result.possible = faults.count
        result.options = work.options.words
        // A step that has no divisor in common with the length of the list's parts would be hard to promise; a shuffle
        // with the seed is as good.
        var generator = SplitMix64(state: work.seed)
        var numbers = Array(faults.indices).shuffled(using: &generator)
        if let onlyKind { numbers.removeAll { number in faults[number].kind != onlyKind } }
        if wanted > 0 { numbers = Array(numbers.prefix(wanted)) }
        for number in numbers.sorted() {
            let name = "seed \(work.seed), \(faults[number])"
            Recorder.watch(name)
            result.runs += 1
            do {
                let one = try work.run(faults[number])
                result.faults += one.wasHit ? 1 : 0
                result.cuts += one.cuts
                result.overtakings += one.overtakings
            } catch {
                result.breaches.append("\(name): \(error)")
                if result.breaches.count >= 20 { break }
            }
        }
        Recorder.watch(nil)
        return result
    }

    private static func faults(_ counts: [Recorder.Kind: Int]) -> [Fault] {
        var faults: [Fault] = []
        func add(_ kind: Recorder.Kind, _ errors: [Int32], _ extents: [Recorder.Extent], lasting: [Bool]) {
            for number in 0..<(counts[kind] ?? 0) {
                for error in errors {
                    for extent in extents {
                        for lasts in lasting {
                            faults.append(
                                Fault(kind: kind, number: number, error: error, extent: extent, lasts: lasts))
                        }
                    }
                }
            }
        }
        let disk = [ENOSPC, EIO, EROFS, EDQUOT]
        for kind in [Recorder.Kind.write, .syncWrite] {
            add(kind, disk, [.nothing], lasting: [false, true])
            // A full disk takes a part; a broken one may have taken all.
            add(kind, [EIO], [.half, .all, .short], lasting: [false])
            add(kind, [ENOSPC], [.half, .short], lasting: [false, true])
        }
        for kind in [Recorder.Kind.sync, .truncate, .allocate, .create, .makeDirectory] {
            add(kind, disk, [.nothing], lasting: [false, true])
        }
        add(.read, [EIO], [.nothing], lasting: [false])
        add(.map, [ENOMEM], [.nothing], lasting: [false])
        for kind in [Recorder.Kind.put, .delete] { add(kind, [Fault.mapFull], [.nothing], lasting: [false, true]) }
        add(.begin, [ENOMEM], [.nothing], lasting: [false])
        return faults
    }
}
