import Foundation
import Holdfast
import HoldfastJournal

/// One call that fails, or from one call on all of its like.
struct Fault: Sendable, CustomStringConvertible {
    let kind: Recorder.Kind
    let number: Int
    let error: Int32
    let extent: Recorder.Extent
    /// Whether it stays until it is lifted.
    let lasts: Bool

    var description: String {
        let what = Self.names[error] ?? "\(error)"
        let how = extent == .nothing ? "" : ", written: \(extent)"
        return "\(kind) \(number) fails with \(what)\(how), \(lasts ? "until lifted" : "once") (--fault \(name))"
    }

    /// By which it can be asked for again.
    var name: String { "\(kind):\(number):\(error):\(extent):\(lasts)" }

    init(kind: Recorder.Kind, number: Int, error: Int32, extent: Recorder.Extent, lasts: Bool) {
        self.kind = kind
        self.number = number
        self.error = error
        self.extent = extent
        self.lasts = lasts
    }

    init?(name: String) {
        let parts = name.split(separator: ":").map(String.init)
        guard parts.count == 5, let kind = Recorder.Kind(named: parts[0]), let number = Int(parts[1]),
            let error = Int32(parts[2]), let lasts = Bool(parts[4]),
            let extent = Recorder.Extent.allCases.first(where: { extent in "\(extent)" == parts[3] })
        else { return nil }
        self.init(kind: kind, number: number, error: error, extent: extent, lasts: lasts)
    }

    static let mapFull: Int32 = -30792
    static let names: [Int32: String] = [
        ENOSPC: "ENOSPC", EIO: "EIO", EROFS: "EROFS", EDQUOT: "EDQUOT", ENOMEM: "ENOMEM", mapFull: "MDB_MAP_FULL",
    ]

    /// The calls that fail with it for as long as it lasts.
    var kinds: [Recorder.Kind] {
        guard lasts else { return [] }
        switch error {
        // A disk without room lets everything through that takes none.
        case ENOSPC, EDQUOT: return [.write, .syncWrite, .allocate, .create, .makeDirectory]
        case EIO, EROFS: return [.write, .syncWrite, .sync, .truncate, .allocate, .create, .makeDirectory]
        default: return [kind]
        }
    }

    /// What a journal may say of it.
    var codes: [JournalError.Code] {
        let own: [JournalError.Code] =
            switch error {
            case ENOSPC, EDQUOT: [.diskFull]
            case EIO: extent == .nothing ? [.inputOutput] : [.inputOutput, .diskFull]
            case EROFS: [.readOnly]
            case Self.mapFull: [.limitReached]
            default: [.inputOutput]
            }
        // Half a write is no error by itself; liblmdb makes EIO of it, or ENOSPC.
        let short: [JournalError.Code] = extent == .short ? [.inputOutput, .diskFull] : []
        return own + short + [.undetermined, .mustBeReopened]
    }
}

/// A fixed piece of work on a journal while one of its calls fails.
struct FaultRun {
    let seed: UInt64
    let steps: Int
    /// States of the disk after a loss of power behind the fault.
    let cuts: Int

    struct Result: Sendable {
        var wasHit = false
        var cuts = 0
        /// Requests that were answered before an earlier one that takes several commits.
        var overtakings = 0
    }

    /// How the journal is kept: the same in all runs of a seed.
    var options: LMDBJournal.Options {
        var generator = SplitMix64(state: seed)
        return .drawn(&generator)
    }

    /// How many calls of each kind there are when nothing fails.
    func count() throws -> [Recorder.Kind: Int] {
        let place = try Place()
        defer { place.remove() }
        _ = try run(nil, place, Monitor(History()))
        return Dictionary(uniqueKeysWithValues: Recorder.Kind.allCases.map { kind in (kind, Recorder.calls(kind)) })
    }

    func run(_ fault: Fault) throws -> Result {
        let place = try Place()
        defer { place.remove() }
        let history = Monitor(History())
        var result = Result()
        let end = try run(fault, place, history)
        result.wasHit = Recorder.hits > 0
        result.overtakings = history.withLock { history in history.overtakings }
        guard result.wasHit, cuts > 0 else { return result }
        let recording = Recorder.recording()
        // What is left behind by a meta page that is written and not confirmed is the most treacherous.
        let isMeta = fault.kind == .syncWrite && fault.extent == .all
        result.cuts = try cutAfter(
            recording, count: isMeta ? 8 * cuts : cuts, Recorder.firstHit, end, place,
            history.withLock { history in history })
        return result
    }

    // MARK: The run

    /// - Returns: how many events there were before it was drained, of which the history knows nothing.
    private func run(_ fault: Fault?, _ place: Place, _ history: Monitor<History>) throws -> Int {
        Recorder.start(place.root)
        defer { Recorder.stop() }
        if let fault {
            Recorder.fail(
                fault.kind, number: fault.number, error: fault.error, extent: fault.extent, then: fault.kinds)
        }
        for half in 0..<2 {
            var journal = try open(place, fault)
            defer { journal.close() }
            try Workload(history, journal).run(
                .init(steps: steps / 2, greatestBatch: 200, helpers: 0), seed: seed &+ UInt64(half), quiet: true)
            try checkErrors(history, fault)
            guard Recorder.hits > 0 else { continue }
            try checkIdle()
            Recorder.lift()
            try recover(&journal, place, history)
            if let fault, fault.number % 3 == 2 {
                // To the end without a restart.
                let noted = history.withLock { history in history }
                try Bounds(noted).check(try Found(journal, place.journal))
                let end = Recorder.position
                try journal.drain(place.journal)
                return end
            }
        }
        return try checkEnd(place, history)
    }

    private func checkEnd(_ place: Place, _ history: Monitor<History>) throws -> Int {
        Recorder.lift()
        let journal = try LMDBJournal(directory: place.journal, options: options)
        defer { journal.close() }
        let noted = history.withLock { history in history }
        try Bounds(noted).check(try Found(journal, place.journal))
        let end = Recorder.position
        try journal.drain(place.journal)
        return end
    }

    /// Opens, where the fault strikes as well: then it must have said so, and open once the fault is gone.
    private func open(_ place: Place, _ fault: Fault?) throws -> LMDBJournal {
        do throws(JournalError) {
            return try LMDBJournal(directory: place.journal, options: options)
        } catch {
            guard let fault, Recorder.hits > 0 else { throw error }
            try expect(fault.codes.contains(error.code), "opening failed with \(error.code): \(error.message)")
            Recorder.lift()
            return try LMDBJournal(directory: place.journal, options: options)
        }
    }

    private func checkErrors(_ history: Monitor<History>, _ fault: Fault?) throws {
        let errors = history.withLock { history in history.errors }
        for error in errors {
            guard let fault, Recorder.hits > 0 else { throw error }
            try expect(fault.codes.contains(error.code), "a request failed with \(error.code): \(error.message)")
        }
    }

    /// Nothing waits to be written, so nothing is tried again and again.
    private func checkIdle() throws {
        let before = Recorder.allCalls
        Thread.sleep(forTimeInterval: 0.01)
        let calls = Recorder.allCalls - before
        try expect(calls < 60, "it spins: \(calls) calls in 10 ms with nothing to do")
    }

    /// The fault is gone: appends, settlements and the blacklist work again, if need be after a reopening that says so.
    private func recover(_ journal: inout LMDBJournal, _ place: Place, _ history: Monitor<History>) throws {
        let afterwards: [JournalError.Code] = [.mustBeReopened, .undetermined]
        for attempt in 0..<2 {
            history.withLock { history in history.errors = [] }
            let workload = try Workload(history, journal)
            workload.openLane(Workload.lanes[0])
            workload.append(count: 3, lanes: 1...1, payload: 100)
            try workload.settleDown()
            let known = history.withLock { history in Array(history.known.suffix(2)) }
            if !known.isEmpty { workload.convict(known) }
            try workload.settleDown()
            let failed = history.withLock { history in
                defer { history.errors = [] }
                return history.errors
            }
            guard let error = failed.first else { return }
            try expect(
                attempt == 0 && failed.allSatisfy { error in afterwards.contains(error.code) },
                "with the fault gone it still fails: \(error.message)")
            journal.close()
            journal = try LMDBJournal(directory: place.journal, options: options)
        }
    }

    // MARK: The loss of power behind it

    private func cutAfter(
        _ recording: Recording, count: Int, _ first: Int, _ end: Int, _ place: Place, _ history: History
    ) throws -> Int {
        var generator = SplitMix64(state: seed ^ UInt64(recording.events.count))
        var power = PowerLoss(recording, root: place.root)
        let state = try Place()
        defer { state.remove() }
        // Most of them at once or soon after the fault, where what it left behind is in the way.
        let positions = (0..<count).map { number in
            let range = [6, 40, max(0, end - first)][number % 3]
            return min(end, first + Int.random(in: 0...range, using: &generator))
        }.sorted()
        for position in positions {
            let survivors: Survivors = .random(generator.next())
            try power.image(at: position, survivors).write(to: state.root)
            Recorder.start(state.root)
            defer { Recorder.stop() }
            do {
                let journal = try LMDBJournal(directory: state.journal, options: options)
                defer { journal.close() }
                try Bounds(history, at: position).check(try Found(journal, state.journal))
            } catch {
                throw Breach("then power lost before event \(position), unsynced writes kept: \(survivors): \(error)")
            }
        }
        return positions.count
    }
}
